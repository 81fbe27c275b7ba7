"""Digits: scikit-learn's digits with a deliberately small model, which needs no file."""

from __future__ import annotations

import numpy as np

from localarc_lab.experiments.fruit.model_outputs import Outputs

_COMPONENTS = 5
_CALIBRATION = 500
_TRAINED = 3  # every third picture trains, the others form the stream


def outputs() -> Outputs:
    """Return a logistic regression on five principal components, evaluated on unseen digits.

    The model is useful but often unsure, as the experiment requires.
    """
    try:
        from sklearn.datasets import load_digits
        from sklearn.decomposition import PCA
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise ValueError(
            "dataset=digits requires scikit-learn: "
            "pip install './packages/localarc-lab[experiments]'"
        ) from error
    pictures, labels = load_digits(return_X_y=True)
    trains = np.arange(len(labels)) % _TRAINED == 0
    reduce = PCA(_COMPONENTS, svd_solver="full").fit(pictures[trains] / 16)
    inputs = reduce.transform(pictures / 16)
    model = LogisticRegression(max_iter=1000).fit(inputs[trains], labels[trains])
    return Outputs.of(model.decision_function(inputs[~trains]), labels[~trains], _CALIBRATION)
