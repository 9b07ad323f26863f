"""Lightning's way to check a config without training: jsonargparse over the Trainer's signature.

python bench/peers/validate_lightning.py
"""
import tempfile

from jsonargparse import ArgumentParser
from lightning.pytorch import Trainer

parser = ArgumentParser()
parser.add_class_arguments(Trainer, "trainer")
with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
    config.write("trainer: {max_epochs: 5, precision: bf16-mixed, log_every_n_steps: 20}\n")
    config.flush()
    parser.parse_path(config.name)
