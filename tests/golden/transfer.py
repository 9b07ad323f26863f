"""Makes transfer.json and transfer/: weights of a language model to another vocabulary, by fastai.

python transfer.py, with the packages of README.md. fastai.text.learner.match_embeds is run on formula
weights; then a whole language model is saved as fastai does (torch.save, and its words by pickle) and
loaded into the encoder of a text classifier of other words (load_pretrained's own three steps).
Tolerance: 1e-6.
"""
import json
import math
import pickle
from pathlib import Path

import torch
from fastai.basics import L
from fastai.text.learner import clean_raw_keys, load_ignore_keys, match_embeds
from fastai.text.models.awdlstm import AWD_LSTM, awd_lstm_clas_config, awd_lstm_lm_config
from fastai.text.models.core import get_language_model, get_text_classifier

HERE = Path(__file__).parent
SPECIAL = ["xxunk", "xxpad", "xxbos", "xxeos", "xxfld", "xxrep", "xxwrep", "xxup", "xxmaj"]


def formula(shape, k):
    count = math.prod(shape)
    return torch.tensor([math.sin(12.9898 * i + 78.233 * k) for i in range(count)], dtype=torch.float64).float().view(shape)


def numbers(tensor):
    return tensor.double().flatten().tolist()


def match(name, old, new, width, bias=True):
    wgts = {"0.encoder.weight": formula((len(old), width), 1), "0.encoder_dp.emb.weight": formula((len(old), width), 1),
            "1.decoder.weight": formula((len(old), width), 1)}
    if bias:
        wgts["1.decoder.bias"] = formula((len(old),), 2)
    made = match_embeds(dict(wgts), old, new)
    expect = {key: numbers(value) for key, value in made.items() if key in wgts}
    return {"name": name, "input": {"kind": "match_embeds", "old": old, "new": new, "width": width, "bias": bias}, "expect": expect}


def pretrained(name, old, new, dims, wrapped):
    torch.manual_seed(3)
    sizes = dict(emb_sz=dims[0], n_hid=dims[1], n_layers=dims[2])
    lm = get_language_model(AWD_LSTM, len(old), {**awd_lstm_lm_config, **sizes})
    for k, (key, tensor) in enumerate(lm.state_dict().items()):
        tensor.copy_(formula(tuple(tensor.shape), k))
    lm[1].decoder.weight = lm[0].encoder.weight  # tied
    folder = HERE / "transfer"
    folder.mkdir(exist_ok=True)
    state = lm.state_dict()
    torch.save({"model": state, "opt": {}} if wrapped else state, folder / f"{name}.pth")
    with open(folder / f"{name}.pkl", "wb") as file:
        pickle.dump(L([old, ["neg", "pos"]]) if wrapped else old, file)
    classifier = get_text_classifier(AWD_LSTM, len(new), 2, config={**awd_lstm_clas_config, **sizes})
    wgts = match_embeds({key: value.clone() for key, value in state.items()}, old, new)
    load_ignore_keys(classifier[0], clean_raw_keys(wgts))
    expect = {f"0.{key}": numbers(value) for key, value in classifier[0].state_dict().items()}
    return {"name": name, "input": {"kind": "load_pretrained", "file": f"{name}.pth", "words": f"{name}.pkl", "new": new,
                                    "emb_sz": dims[0], "n_hid": dims[1], "n_layers": dims[2]}, "expect": expect}


def main():
    abc = SPECIAL + ["the", "a", "film", "good", "bad"]
    cases = [
        match("same_words", abc, abc, 3),
        match("other_order", abc, SPECIAL + ["bad", "good", "film", "a", "the"], 3),
        match("new_and_dropped", abc, SPECIAL + ["film", "dull", "the", "plot"], 4),
        match("fillers", SPECIAL + ["one", "xxfake", "xxfake"], SPECIAL + ["two", "one", "xxfake", "xxfake", "xxfake"], 2),
        match("nothing_in_common", ["p", "q", "r"], ["x", "y"], 5),
        match("without_bias", abc, SPECIAL + ["bad", "worse"], 3, bias=False),
        pretrained("plain", abc, SPECIAL + ["film", "dull", "the", "plot", "good", "xxfake"], (6, 8, 2), False),
        pretrained("with_optimizer", abc, SPECIAL + ["bad", "a"], (4, 6, 3), True),
    ]
    about = ("fastai.text.learner.match_embeds and load_pretrained. Formula weights: element i of tensor k = "
             "sin(12.9898 i + 78.233 k), computed in double; in match_embeds k = 1 for all embeddings, 2 for the bias. Tolerance 1e-6.")
    (HERE / "transfer.json").write_text(json.dumps({"about": about, "cases": cases}) + "\n")


main()
