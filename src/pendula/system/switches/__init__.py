"""What happens at certain times or states: switches and pulses in expressions, and what a run watches."""
