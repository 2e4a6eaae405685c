//! Tells the program which commit it is built from.

fn main() {
    tidegate_commit::tell();
}
