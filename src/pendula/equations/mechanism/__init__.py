"""The mechanism in symbols: its links, motions and poses, in coordinates of its joints or of its bodies."""
