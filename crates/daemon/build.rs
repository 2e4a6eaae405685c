//! Says which commit the program is built from, for its version.

fn main() {
    tidegate_commit::tell();
}
