// The kinds of component that a recipe can name. The interfaces live on higher floors; only their
// names are here.
#pragma once

namespace ddptrain {

class Dataset;
class Tokenizer;
class Transform;
class Sampler;
class Mix;
class Model;
class Layer;
class Loss;
class Metric;
class Optimizer;
class Schedule;
class Clip;
class Callback;

template <class T>
inline constexpr const char* kind_name = nullptr;
template <>
inline constexpr const char* kind_name<Dataset> = "data";
template <>
inline constexpr const char* kind_name<Tokenizer> = "tokenizer";
template <>
inline constexpr const char* kind_name<Transform> = "transform";
template <>
inline constexpr const char* kind_name<Sampler> = "sampler";
template <>
inline constexpr const char* kind_name<Mix> = "mix";
template <>
inline constexpr const char* kind_name<Model> = "model";
template <>
inline constexpr const char* kind_name<Layer> = "layer";
template <>
inline constexpr const char* kind_name<Loss> = "loss";
template <>
inline constexpr const char* kind_name<Metric> = "metric";
template <>
inline constexpr const char* kind_name<Optimizer> = "optimizer";
template <>
inline constexpr const char* kind_name<Schedule> = "schedule";
template <>
inline constexpr const char* kind_name<Clip> = "clip";
template <>
inline constexpr const char* kind_name<Callback> = "callback";

}  // namespace ddptrain
