"""The contract between the parts as typed values: record, events, journal, findings, facts (protocol/*.md)."""
