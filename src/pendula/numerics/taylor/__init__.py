"""Fast path: the Taylor stepper, for one run or for eight side by side."""
