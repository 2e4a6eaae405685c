//! Says which commit the package is built from, for the provenance of results.

fn main() {
    tidegate_commit::tell();
}
