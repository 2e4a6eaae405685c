//! Says which commit the program is built from, for the provenance of results.

fn main() {
    tidegate_commit::tell();
}
