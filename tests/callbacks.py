"""A callback of scikit-learn that notes what a fit reports, and can ask it to stop."""


class Listener:
    """Notes what a fit reports, and can ask it to stop."""

    def __init__(self, stop_after=None):
        self.stop_after, self.begun, self.ended, self.events = stop_after, [], [], []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.begun.append((context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.ended.append((context.task_name, context.task_id))
        return self.stop_after is not None and len(self.ended) >= self.stop_after
