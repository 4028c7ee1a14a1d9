"""Control of linear models: state spaces, responses, gains, estimators, and what inputs and sensors can reach."""
