"""The matchers that the papers describe, each as itself, mended where the printed algorithm was wrong."""
