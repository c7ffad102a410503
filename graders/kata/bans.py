"""Named sets of bans: all the names under which torch does a whole kata's job.

A set is proved like any ban: `prove` runs torch's own answer, and lists the operators that no ban matches.
"""

ATTENTION = (
    *("scaled_dot_product", "flash_attention", "efficient_attention", "cudnn_attention", "flex_attention"),
    *("math_attention", "sdpa_dense", "varlen_attn"),  # the first is flex_attention without a compiler
    *("multi_head_attention", "native_multi_head_attention", "triton_multi_head_attention"),
    *("triton_scaled_dot_attention", "transformer_encoder_layer"),
    "forward_impl",  # torch.ao.nn.quantizable.MultiheadAttention, in plain operators
    "fuse_attention",  # of torch._inductor, which has attention in plain operators
)
CROSS_ENTROPY = ("cross_entropy", "linear_cross_entropy")
SOFTMAX = (
    *("softmax", "log_softmax", "softmin", "safe_softmax", "masked_softmax", "nested_tensor_softmax"),
    *("distributions", "gumbel_softmax", "logsumexp", "logcumsumexp", "logits_to_probs"),
    *(*CROSS_ENTROPY, "ctc_loss", *ATTENTION),  # which have one inside
)
DIVERGENCES = ("distributions", "kl_", "entropy", *CROSS_ENTROPY)
NORMS = (
    *("layer_norm", "group_norm", "instance_norm", "batch_norm", "rms_norm", "local_response_norm", "normalize"),
    *("native_layer_norm", "native_group_norm", "native_batch_norm", "fused_rms_norm"),
    *("cudnn_batch_norm", "miopen_batch_norm", "quantized_batch_norm", "qbatch_norm", "fuse_conv_bn", "fuse_linear_bn"),
)
UNIT_LENGTH = (
    *("cosine_similarity", "cosine_embedding_loss", "normalize", "weight_norm", "renorm", "embedding_renorm"),
    *("rms_norm", "fused_rms_norm", "local_response_norm"),
)
CONVOLUTIONS = (
    *("conv1d", "conv2d", "conv3d", "conv_", "convolution", "cudnn_conv", "miopen_conv", "miopen_depthwise"),
    *("mkldnn_conv", "mps_conv", "nnpack_spatial", "slow_conv", "thnn_conv", "qconv"),
)
OPTIMIZERS = ("optim", "fused_sgd", "fused_adam", "fused_adagrad")
