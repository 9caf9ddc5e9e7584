//! Changes a scalar in a YAML file and touches no other byte.
