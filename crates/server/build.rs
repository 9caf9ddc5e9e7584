//! Has the program built anew when its web pages are.

fn main() {
    println!("cargo::rerun-if-changed=../../ui/dist");
}
