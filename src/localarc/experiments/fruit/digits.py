"""Digits: a stream that needs no file, scikit-learn's digits seen by a deliberately small model."""

from __future__ import annotations

import numpy as np

from localarc.experiments.fruit.model_outputs import Outputs

_COMPONENTS = 5
_CALIBRATION = 500
_TRAINED = 3  # every third picture trains, the others are the stream


def outputs() -> Outputs:
    """Logistic regression on five principal components, on the digits that it was not trained on.

    So little is enough to be useful and not enough to be sure.
    """
    try:
        from sklearn.datasets import load_digits
        from sklearn.decomposition import PCA
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise ValueError(
            "--dataset digits takes scikit-learn: pip install 'localarc[experiments]'"
        ) from error
    pictures, labels = load_digits(return_X_y=True)
    trains = np.arange(len(labels)) % _TRAINED == 0
    reduce = PCA(_COMPONENTS, svd_solver="full").fit(pictures[trains] / 16)
    places = reduce.transform(pictures / 16)
    model = LogisticRegression(max_iter=1000).fit(places[trains], labels[trains])
    return Outputs.of(model.decision_function(places[~trains]), labels[~trains], _CALIBRATION)
