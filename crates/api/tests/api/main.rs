//! The kinds, read from YAML and turned into facts of the core, as the rest of Weir uses them.

mod crds;
