"""What can be promised, said at any time, measured and chosen: theory, certificates, audits, h."""
