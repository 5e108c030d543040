"""The lecture's methods: (sub)gradient and stochastic descent, and the perceptron."""
