"""The animation page: scene, shapes, motion and its packing."""
