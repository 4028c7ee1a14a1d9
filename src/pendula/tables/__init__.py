"""Results as labelled arrays with units and metadata, and the formats in which they leave and come back."""
