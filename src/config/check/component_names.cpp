// What components of PyTorch, torchvision, timm, Keras, fastai, scikit-learn and Lightning are
// called here.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "config/check/hints.h"

namespace ddptrain {
namespace {

// `theirs` without case, '_', '-', '.' and blanks; names of one line mean the same.
constexpr auto components_table = std::to_array<ForeignComponent>({
    {"metric",
     "acc top1 accuracyscore sparsecategoricalaccuracy categoricalaccuracy multiclassaccuracy "
     "pixelaccuracy pixacc",
     "accuracy"},
    {"metric", "binaryaccuracy multilabelaccuracy", "accuracy accuracy_multi"},
    {"metric",
     "top5 top5accuracy acc5 acctop5 topkaccuracy topkaccuracyscore topkcategoricalaccuracy",
     "top_k", ", as in '{type: top_k, k: 5}'"},
    {"metric", "iou miou meaniou meaniu intersectionoverunion",
     "jaccard_coeff_multi jaccard_coeff per_class_iou"},
    {"metric", "jaccardindex jaccardscore", "jaccard jaccard_coeff_multi"},
    {"metric", "map ap meanaverageprecision averageprecision averageprecisionscore auprc prauc",
     "average_precision_binary average_precision_multi"},
    {"metric", "auc auroc rocaucscore aucroc areaundercurve",
     "roc_auc roc_auc_binary roc_auc_multi"},
    {"metric", "f1score fmeasure fscore", "f1 f1_multi"},
    {"metric", "macrof1 f1macro f1scoremacro", "f1", ", as in '{type: f1, average: macro}'"},
    {"metric", "fbetascore", "fbeta fbeta_multi"},
    {"metric", "precisionscore ppv", "precision precision_multi"},
    {"metric", "recallscore sensitivity tpr", "recall recall_multi"},
    {"metric", "balancedaccuracyscore bacc", "balanced_accuracy"},
    {"metric", "kappa cohenkappascore", "cohen_kappa"},
    {"metric", "qwk quadratickappa quadraticweightedkappa", "cohen_kappa",
     ", as in '{type: cohen_kappa, weights: quadratic}'"},
    {"metric", "matthewscorrcoef matthews matthewscorrelation phi", "mcc"},
    {"metric", "meanabsoluteerror l1", "mae"},
    {"metric", "meansquarederror l2", "mse"},
    {"metric", "rootmeansquarederror", "rmse"},
    {"metric", "meansquaredlogarithmicerror meansquaredlogerror", "msle"},
    {"metric", "rsquared r2score coefficientofdetermination", "r2"},
    {"metric", "explainedvariancescore", "explained_variance"},
    {"metric", "pearsonr pearsoncorrcoef correlation", "pearson"},
    {"metric", "spearmanr spearmancorrcoef rankcorrelation", "spearman"},
    {"metric", "ppl", "perplexity"},
    {"metric", "err top1error error", "error_rate"},
    {"metric", "hamming", "hamming_loss hamming_loss_multi"},
    {"metric", "dicescore dicecoefficient dicecoeff", "dice dice_multi"},
    {"metric", "classwiseaccuracy", "per_class_accuracy"},
    {"metric", "classiou", "per_class_iou"},
    {"metric", "crossentropy ce logloss valloss", "loss"},
    {"loss",
     "ce crossentropyloss categoricalcrossentropy sparsecategoricalcrossentropy "
     "softmaxcrossentropy softmax logloss crossentropylossflat",
     "cross_entropy"},
    {"loss", "labelsmoothing labelsmoothingloss labelsmoothingce", "cross_entropy",
     ", as in '{type: cross_entropy, label_smoothing: 0.1}'"},
    {"loss", "labelsmoothingcrossentropy", "cross_entropy fastai_label_smoothing"},
    {"loss",
     "bce bceloss bcewithlogitsloss binarycrossentropy sigmoidcrossentropy "
     "binarycrossentropywithlogits",
     "bce_with_logits"},
    {"loss", "nllloss negativeloglikelihood", "nll"},
    {"loss", "l1loss mae meanabsoluteerror", "l1"},
    {"loss", "l2 l2loss mseloss meansquarederror", "mse"},
    {"loss", "huberloss", "huber"},
    {"loss", "smoothl1loss", "smooth_l1"},
    {"loss", "focalloss sigmoidfocalloss", "focal"},
    {"loss", "dice diceloss softdice", "fastai_dice"},
    {"loss", "kl kldivloss kldivergence kullbackleibler", "kl_div"},
    {"loss", "compound sum dicece", "combined"},
    {"optimizer", "sgdmomentum momentum", "sgd", ", as in '{type: sgd, lr: 0.1, momentum: 0.9}'"},
    {"optimizer", "nesterov sgdnesterov", "sgd",
     ", as in '{type: sgd, lr: 0.1, momentum: 0.9, nesterov: true}'"},
    {"optimizer", "sgdw", "sgd", ", as in '{type: sgd, lr: 0.1, decoupled_weight_decay: true}'"},
    {"optimizer", "fusedadam torchadam", "adam"},
    {"optimizer", "adamweightdecay fusedadamw adamwtorch", "adamw"},
    {"optimizer", "rmsproptf", "rmsprop"},
    {"optimizer", "ranger21 lookaheadradam", "ranger"},
    {"optimizer", "fusedlamb nvlamb", "lamb"},
    {"optimizer", "quasihyperbolicadam", "qhadam"},
    {"optimizer", "sgdp", "sgd"},
    {"schedule",
     "cos cosinelr cosineannealing cosineannealinglr cosinedecay cosinescheduler "
     "cosineschedulewithwarmup cosinewithminlr cosinewarmupwithminlr",
     "cosine"},
    {"schedule",
     "sgdr warmrestarts cosinewarmrestarts cosinewithrestarts cosineannealingwarmrestarts "
     "cosinedecayrestarts cosinewithhardrestarts",
     "cosine_restarts"},
    {"schedule", "steplr stepdecay", "step"},
    {"schedule", "multisteplr piecewiseconstant", "multi_step"},
    {"schedule", "exp exponentiallr exponentialdecay", "exponential"},
    {"schedule", "1cycle onecyclelr onecyclepolicy fitonecycle", "one_cycle"},
    {"schedule", "flatcos fitflatcos", "flat_cosine"},
    {"schedule", "cycliclr triangular", "cyclic"},
    {"schedule", "linearlr lineardecay linearwithwarmup linearwarmup", "linear"},
    {"schedule", "poly polylr polynomiallr polynomialdecay", "polynomial"},
    {"schedule", "constantlr constantwithwarmup fixed", "constant"},
    {"schedule", "noam invsqrt rsqrt inversesquareroot", "inverse_sqrt"},
    {"schedule", "warmupstabledecay", "wsd"},
    {"schedule", "sequentiallr chainedscheduler", "combined"},
    {"callback", "earlystop earlystopper earlystoppingcallback", "early_stopping"},
    {"callback", "plateau reducelr reducelronplateaucallback", "reduce_lr_on_plateau"},
    {"clip", "gradnorm clipgradnorm gradclip maxnorm", "norm"},
    {"clip", "clipgradvalue clipvalue", "value"},
    {"transform", "flip hflip fliplr randomflip randomhorizontalflip", "horizontal_flip"},
    {"transform", "vflip flipud randomverticalflip", "vertical_flip"},
    {"transform", "jitter brightness contrast hue saturation randombrightnesscontrast",
     "color_jitter"},
    {"transform", "rrc randomresizecrop randomresizedcropandinterpolation inceptioncrop",
     "random_resized_crop"},
    {"transform", "rotate randomrotation randomrotate", "rotation"},
    {"transform", "randomaffine shiftscalerotate", "affine"},
    {"transform", "blur", "gaussian_blur"},
    {"transform", "cutout randomerase erasing coarsedropout", "random_erasing"},
    {"transform", "randaug", "rand_augment"},
    {"transform", "autoaug", "auto_augment"},
    {"transform", "taw trivialaugmentwide", "trivial_augment"},
    {"transform", "augtransforms", "fastai_augment"},
    {"transform", "gray grayscale randomgrayscale togray", "to_grayscale"},
    {"transform", "randomposterize", "posterize"},
    {"transform", "randomsolarize", "solarize"},
    {"transform", "randomequalize", "equalize"},
    {"transform", "randomautocontrast", "autocontrast"},
    {"transform", "randominvert", "invert"},
    {"transform", "sharpen randomadjustsharpness", "sharpness"},
    {"transform", "warp randomperspective", "perspective"},
    {"transform", "randomgamma gammacorrection", "gamma"},
    {"transform", "padding zeropad", "pad"},
    {"transform", "rescale smallestmaxsize", "resize"},
    {"transform", "standardize", "normalize"},
    {"mix", "randommixup mixuptransform", "mixup"},
    {"mix", "randomcutmix", "cutmix"},
    {"mix", "mixuporcutmix mixupcutmix randomchoice", "one_of"},
    {"sampler", "random randomsampler distributedsampler", "shuffle"},
    {"sampler", "sequentialsampler noshuffle", "sequential"},
    {"sampler", "weightedrandomsampler weightedrandom balanced weighteddl", "weighted"},
    {"sampler", "sorteddl groupbylength lengthgrouped", "length_sorted"},
    {"sampler", "repeataugsampler rasampler", "repeat_aug"},
    {"sampler", "partialdl subset", "partial"},
    {"model", "vitbase vitbasepatch16224 visiontransformer", "vit_b_16 vit"},
    {"model", "vgg vgg16", "vgg16_bn vgg11"},
    {"model", "efficientnet", "efficientnet_b0"},
    {"model", "mobilenetv3", "mobilenet_v3_large mobilenet_v3_small"},
    {"model", "mobilenet", "mobilenet_v2 mobilenet_v3_large"},
    {"model", "swin swintiny swintinypatch4window7224", "swin_t"},
    {"model", "convnext", "convnext_tiny"},
    {"model", "densenet", "densenet121 densenet169"},
    {"model", "squeezenet", "squeezenet1_1"},
    {"model", "resnet", "resnet18 resnet34 resnet50"},
    {"model", "wideresnet", "wide_resnet50_2"},
    {"model", "resnext", "resnext50_32x4d"},
    {"model", "xresnet", "xresnet18 xresnet50"},
    {"model", "regnet", "regnet_x_400mf regnet_y_400mf"},
    {"model", "deeplab deeplabv3resnet50", "deeplabv3"},
    {"model", "fcnresnet50", "fcn"},
    {"model", "dynamicunet unetlearner", "unet"},
    {"model", "cnnlearner", "vision_learner"},
    {"model", "lstm rnn ulmfit textclassifierlearner textlearner", "awd_lstm"},
    {"model", "transformer bert", "text_transformer"},
    {"model", "embeddingbag fasttext bow bagofwords", "bag_of_embeddings"},
    {"model", "tabularmodel tabularlearner", "tabular"},
    {"model", "collab collablearner matrixfactorization", "embedding_dot_bias collab_nn"},
    {"model", "embeddingnn", "collab_nn"},
    {"model", "cnn simplecnn lenet", "mnist_net"},
    {"model", "logisticregression perceptron multilayerperceptron dnn", "mlp"},
    {"data", "folder imagedataset", "image_folder"},
    {"data", "csv", "csv_table text_csv manifest"},
    {"data", "dataframe table", "csv_table"},
    {"data", "parquet", "parquet_table image_parquet"},
    {"data", "webdataset wds tar tarfiles shards", "image_shards text_jsonl"},
    {"data", "cifar", "cifar10"},
    {"data", "segmentation masks", "image_masks"},
    {"data", "keypoints points", "image_points"},
    {"data", "pictures unlabeled", "unlabeled_images"},
    {"data", "movielens collabdataloaders", "ratings"},
    {"data", "jsonl jsonlines", "text_jsonl"},
    {"data", "textdataset", "text_folder text_csv text_jsonl"},
    {"layer", "conv2d convolution", "conv"},
    {"layer", "batchnorm2d batchnorm1d bn", "batch_norm"},
    {"layer", "maxpool2d", "max_pool"},
    {"layer", "adaptiveavgpool2d avgpool globalaveragepool globalaveragepooling2d",
     "adaptive_avg_pool"},
    {"layer", "dense fc fullyconnected", "linear"},
    {"layer", "gelu silu swish sigmoid tanh", "activation"},
    {"tokenizer", "spacy wordtokenizer", "fastai"},
    {"tokenizer", "bert", "wordpiece"},
    {"tokenizer", "gpt2 bytelevel bytepairencoding llama qwen", "bpe"},
    {"tokenizer", "sentencepiece t5", "unigram"},
});

/// The names that are spelled like this one.
bool holds_name(std::string_view names, const std::string& plain) {
  for (const auto& name : split(names, ' '))
    if (name == plain) return true;
  return false;
}

}  // namespace

std::span<const ForeignComponent> foreign_components() { return components_table; }

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : lower(name))
    if (c != '_' && c != '-' && c != '.' && c != ' ') plain += c;
  return plain;
}

Meant meant_components(std::string_view word, const std::string& kind,
                       const std::vector<std::string>& names) {
  const auto plain = plain_name(word);
  Meant meant;
  for (const auto& name : names)
    if (plain_name(name) == plain) meant.names = {name};
  if (!meant.names.empty()) return meant;
  for (const auto& row : components_table) {
    if (row.kind != kind || !holds_name(row.theirs, plain)) continue;
    for (auto& name : split(row.ours, ' '))
      if (std::find(names.begin(), names.end(), name) != names.end())
        meant.names.push_back(std::move(name));
    meant.says = row.says;
  }
  return meant;
}

std::string meant_text(const Meant& meant) {
  if (meant.names.empty() || meant.says.empty()) return did_you_mean(meant.names);
  return "; here it is " + one_of(meant.names) + std::string(meant.says);
}

}  // namespace ddptrain
