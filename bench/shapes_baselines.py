"""How far methods without convolutions get on the built-in shapes: both must stay below 40 %.

    python bench/shapes_baselines.py FOLDER        (needs numpy, pillow, scikit-learn)
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def pictures(folder):
    classes = sorted(p.name for p in folder.iterdir())
    for label, name in enumerate(classes):
        for path in sorted((folder / name).iterdir()):
            yield np.asarray(Image.open(path).convert("RGB").resize((32, 32))), label


def pixels(image):
    return image.reshape(-1) / 255


def color_histogram(image):
    bins = (image // 64).astype(int)
    cells = bins[..., 0] * 16 + bins[..., 1] * 4 + bins[..., 2]
    joint = np.bincount(cells.reshape(-1), minlength=64)
    single = [np.histogram(image[..., c], bins=32, range=(0, 256))[0] for c in range(3)]
    return np.concatenate([joint, *single]) / cells.size


def score(root, features, model):
    data = {}
    for split in ("train", "val"):
        rows = [(features(image), label) for image, label in pictures(root / split)]
        data[split] = np.stack([r for r, _ in rows]), np.array([label for _, label in rows])
    return model.fit(*data["train"]).score(*data["val"])


def main():
    root = Path(sys.argv[1])
    linear = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=300))
    forest = RandomForestClassifier(200, random_state=0, n_jobs=1)
    results = {
        "logistic regression on 32 x 32 pixels": score(root, pixels, linear),
        "logistic regression on color histograms": score(root, color_histogram, linear),
        "random forest on color histograms": score(root, color_histogram, forest),
    }
    for name, accuracy in results.items():
        print(f"{name}: {100 * accuracy:.1f} %")
    return int(max(results.values()) >= 0.4)


if __name__ == "__main__":
    sys.exit(main())
