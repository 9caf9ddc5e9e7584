//! Decides promotions.
