"""What ``pendula doctor`` examines: the installation, its optional parts, and a few results against closed forms."""
