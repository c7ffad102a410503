"""Known wrong answers to patch_embedding."""

from graders.kata import Mistake

SIZES = "H, W = (image_size, image_size) if isinstance(image_size, int) else image_size"
DIVIDED = "if H % patch_size or W % patch_size:"
NUMBER = "self.num_patches = (H // patch_size) * (W // patch_size)"
PROJ = "self.proj = nn.Linear(in_channels * patch_size * patch_size, embed_dim)"
POSITIONS = "self.pos_embed = nn.Parameter(0.02 * torch.randn(1, self.num_patches + 1, embed_dim))"
OTHER_CHANNELS = "if self.in_channels != C:"
OTHER_SIZE = "if self.image_size != (H, W):"
CUT = "x = x.reshape(B, C, H // P, P, W // P, P)"
ORDER = "x = x.permute(0, 2, 4, 1, 3, 5)"
ROWS = "patches = x.reshape(B, self.num_patches, C * P * P)"
MAP = "tokens = self.proj(patches)"
FIRST = "first = self.cls_token.expand(B, -1, -1)"
RESULT = "return torch.cat([first, tokens], dim=1) + self.pos_embed"
PATCH_BY_PATCH = """corners = [(i, j) for i in range(0, H, P) for j in range(0, W, P)]
        """


def order(axes: str) -> dict[str, str]:
    return {ORDER: f"x = x.permute({axes})"}


def mapped(text: str) -> dict[str, str]:
    return {MAP: f"tokens = {text}"}


def returned(text: str) -> dict[str, str]:
    return {RESULT: f"return {text}"}


def refused(text: str) -> dict[str, str]:
    """What decides on the size of the images."""
    return {OTHER_SIZE: f"if {text}:"}


MISTAKES = (
    Mistake(
        "channels_last",
        "a patch is flattened in the order (P, P, C); proj takes its pixels in the order (C, P, P)",
        order("0, 2, 4, 3, 5, 1"),
    ),
    Mistake(
        "channels_between",
        "a patch is flattened in the order (P, C, P); proj takes its pixels in the order (C, P, P)",
        order("0, 2, 4, 3, 1, 5"),
    ),
    Mistake(
        "column_by_column",
        "the patches are taken column by column; take them row by row",
        order("0, 4, 2, 1, 3, 5"),
        {ROWS: "patches = x.transpose(1, 2).reshape(B, self.num_patches, C * P * P)"},
    ),
    Mistake(
        "patch_transposed",
        "height and width are swapped inside each patch; keep the order (C, P, P) with the rows first",
        order("0, 2, 4, 1, 5, 3"),
    ),
    Mistake(
        "image_transposed",
        "height and width are swapped in the image and in each patch; the rows come first in both",
        order("0, 4, 2, 1, 5, 3"),
    ),
    Mistake(
        "cut_without_permute",
        "the axes are cut and flattened again without a permute, so a row holds pixels of several patches; first move "
        "the axes of the patches to the front",
        {ORDER: "pass"},
        {ROWS: ROWS.replace("x.", "x.permute(0, 4, 2, 1, 3, 5).")},
    ),
    Mistake(
        "channels_moved_but_nothing_cut",
        "the image is moved to (B, H, W, C) and reshaped to (B, N, …), which mixes patches; cut both sides first, into "
        "(H / P, P) and (W / P, P)",
        unplanted=[{CUT: "x = x.permute(0, 2, 3, 1)", ORDER: "x = x.contiguous()"}],
    ),
    Mistake(
        "channels_kept_in_front",
        "the channels are still in front of the patches when the axes are flattened, so a row holds one channel of "
        "several patches; move the channels after both axes of the patches",
        order("0, 1, 2, 4, 3, 5"),
    ),
    Mistake(
        "columns_not_transposed",
        "the columns of F.unfold, (B, C·P·P, N), are reshaped to (B, N, C·P·P), which mixes patches; transpose them",
        order("0, 1, 3, 5, 2, 4"),
    ),
    Mistake(
        "sides_swapped_when_cut",
        "the rows of the image are cut into W / P parts and the columns into H / P; the rows have H / P, and the "
        "columns W / P",
        {CUT: "x = x.reshape(B, C, W // P, P, H // P, P)"},
    ),
    Mistake(
        "patch_and_place_swapped",
        "a side is cut into P parts of H / P pixels; cut it into H / P parts of P pixels",
        {CUT: "x = x.reshape(B, C, P, H // P, P, W // P)", ORDER: "x = x.permute(0, 3, 5, 1, 2, 4)"},
    ),
    Mistake(
        "view_after_permute",
        "view cannot flatten axes that permute has moved, and raises; use reshape",
        {ROWS: ROWS.replace("reshape", "view")},
    ),
    Mistake(
        "images_mixed",
        "the rows of all images are reshaped to (N, B, …), which mixes images; the images are the first axis",
        {ROWS: "patches = x.reshape(self.num_patches, B, C * P * P).transpose(0, 1)"},
    ),
    Mistake(
        "token_last",
        "the class token is the last token; put it first",
        returned("torch.cat([tokens, first], dim=1) + self.pos_embed"),
    ),
    Mistake(
        "token_and_position_last",
        "the class token is the last token, with the first position; put it first",
        returned("torch.cat([tokens + self.pos_embed[:, 1:], first + self.pos_embed[:, :1]], dim=1)"),
    ),
    Mistake(
        "token_without_position",
        "the class token gets no position; add pos_embed[:, 0] to it",
        returned("torch.cat([first, tokens + self.pos_embed[:, 1:]], dim=1)"),
    ),
    Mistake(
        "positions_before_the_token",
        "the positions are added before the class token is put in front, so the first patch has the position 0; the "
        "class token has the position 0, and the first patch 1",
        returned("torch.cat([first, tokens + self.pos_embed[:, :-1]], dim=1)"),
    ),
    Mistake(
        "token_has_the_last_position",
        "the class token gets the last position, and the first patch gets the first; give the token the first",
        returned("torch.cat([first, tokens], dim=1) + self.pos_embed.roll(1, 1)"),
    ),
    Mistake(
        "one_position_for_the_patches",
        "all patches get one position; each has its own",
        returned("torch.cat([first + self.pos_embed[:, :1], tokens + self.pos_embed[:, 1:2]], dim=1)"),
        returned("torch.cat([first, tokens], dim=1) + self.pos_embed[:, :1]"),
    ),
    Mistake(
        "no_positions",
        "pos_embed is not added; add it to all tokens",
        returned("torch.cat([first, tokens], dim=1)"),
    ),
    Mistake(
        "positions_twice",
        "the patches get their positions twice; add pos_embed once",
        returned("torch.cat([first, tokens + self.pos_embed[:, 1:]], dim=1) + self.pos_embed"),
    ),
    Mistake(
        "positions_detached",
        "pos_embed is detached, so it does not learn; keep it in the graph",
        returned("torch.cat([first, tokens], dim=1) + self.pos_embed.detach()"),
        returned("torch.cat([first, tokens], dim=1) + self.pos_embed.data"),
    ),
    Mistake(
        "positions_no_parameter",
        "pos_embed is no parameter, so it does not learn; make it an nn.Parameter",
        {POSITIONS: 'self.register_buffer("pos_embed", torch.randn(1, self.num_patches + 1, embed_dim))'},
        {POSITIONS: "self.pos_embed = torch.randn(1, self.num_patches + 1, embed_dim)"},
    ),
    Mistake(
        "a_position_too_few",
        "pos_embed has N positions; it has N + 1, the class token's and one for each patch",
        {POSITIONS: POSITIONS.replace("self.num_patches + 1", "self.num_patches")},
        {
            POSITIONS: POSITIONS.replace("self.num_patches + 1", "self.num_patches"),
            RESULT: "return torch.cat([first, tokens + self.pos_embed], dim=1)",
        },
    ),
    Mistake(
        "token_detached",
        "the class token is detached, so it does not learn; keep it in the graph",
        {FIRST: "first = self.cls_token.detach().expand(B, -1, -1)"},
        {FIRST: "first = self.cls_token.data.expand(B, -1, -1)"},
    ),
    Mistake(
        "token_not_used",
        "a row of zeros stands in place of the class token; use cls_token",
        {FIRST: "first = 0 * self.cls_token.expand(B, -1, -1)"},
    ),
    Mistake(
        "token_not_repeated",
        "the class token is not repeated, and torch.cat does not broadcast; expand it to all images",
        {FIRST: "first = self.cls_token"},
    ),
    Mistake(
        "mean_in_the_token",
        "the mean of the patches is added to the class token; put cls_token alone in front",
        {FIRST: "first = self.cls_token + tokens.mean(1, keepdim=True)"},
    ),
    Mistake(
        "no_bias",
        "proj's bias is not added; call proj, or add the bias",
        mapped("patches @ self.proj.weight.mT"),
    ),
    Mistake(
        "proj_is_a_convolution",
        "proj is a convolution; it is nn.Linear(C·P·P, D)",
        {PROJ: "self.proj = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)"},
    ),
    Mistake(
        "proj_without_bias",
        "proj is made without bias; it has one",
        {PROJ: PROJ.replace("embed_dim)", "embed_dim, bias=False)")},
    ),
    Mistake(
        "tokens_scaled",
        "the patches' tokens are multiplied by √D; take them as proj gives them",
        mapped("self.proj(patches) * self.proj.out_features**0.5"),
    ),
    Mistake(
        "dropout_on_tokens",
        "dropout changes the tokens while the module trains; leave dropout out",
        returned("nn.functional.dropout(torch.cat([first, tokens], dim=1) + self.pos_embed, 0.1, self.training)"),
        returned("nn.functional.dropout(torch.cat([first, tokens], dim=1) + self.pos_embed, 0.5, self.training)"),
    ),
    Mistake(
        "tokens_normalised",
        "the tokens go through a layer norm; leave it out",
        mapped("nn.functional.layer_norm(self.proj(patches), self.proj.bias.shape)"),
        mapped("self.proj(nn.functional.layer_norm(patches, patches.shape[-1:]))"),
        returned("nn.functional.layer_norm(torch.cat([first, tokens], dim=1) + self.pos_embed, self.proj.bias.shape)"),
    ),
    Mistake(
        "activation_after_proj",
        "the tokens go through an activation; leave it out",
        mapped("torch.relu(self.proj(patches))"),
        mapped("nn.functional.gelu(self.proj(patches))"),
    ),
    Mistake(
        "pixels_scaled",
        "the pixels are scaled, as by 1/255 or to ±1; take them as they are",
        {CUT: f"{CUT} / 255"},
        {CUT: CUT.replace("x.reshape", "(2 * x - 1).reshape")},
    ),
    Mistake(
        "width_first",
        "a pair is read as (width, height); it is (height, width)",
        {SIZES: SIZES.replace("H, W =", "W, H =")},
    ),
    Mistake(
        "only_pairs",
        "image_size is taken to be a pair; it may also be one int",
        {SIZES: "H, W = image_size"},
    ),
    Mistake(
        "only_squares",
        "image_size is taken to be one int; it may also be a pair (height, width)",
        {SIZES: "H = W = image_size"},
    ),
    Mistake(
        "square_of_a_side",
        "num_patches is the square of a side's patches; it is (H / P) · (W / P)",
        {NUMBER: "self.num_patches = (H // patch_size) ** 2"},
        {NUMBER: "self.num_patches = (W // patch_size) ** 2"},
    ),
    Mistake(
        "token_counted",
        "num_patches counts the class token; it is N, the patches alone",
        {
            POSITIONS: f"{POSITIONS}\n        self.num_patches += 1",
            ROWS: "patches = x.reshape(B, -1, C * P * P)",
        },
    ),
    Mistake(
        "number_under_another_name",
        "there is no attribute num_patches; keep the number of patches under this name",
        {
            NUMBER: NUMBER.replace("num_patches", "n_patches"),
            POSITIONS: POSITIONS.replace("num_patches", "n_patches"),
            ROWS: ROWS.replace("num_patches", "n_patches"),
        },
    ),
    Mistake(
        "only_one_side_divided",
        "patch_size is refused only if it does not divide one given side, or not both; it should divide both",
        {DIVIDED: ["if H % patch_size:", "if W % patch_size:", "if H % patch_size and W % patch_size:"]},
    ),
    Mistake(
        "area_divided",
        "the area P² is only compared with H · W; P should divide each side",
        {DIVIDED: "if H * W % patch_size**2:"},
    ),
    Mistake(
        "number_of_patches_compared",
        "images are only refused if their patches are not as many; compare height and width",
        refused("(H // self.patch_size) * (W // self.patch_size) != self.num_patches"),
        refused("(H // self.patch_size) * (W // self.patch_size) != self.num_patches")
        | {CUT: f"x = x[:, :, : H // P * P, : W // P * P]\n        {CUT}"},
    ),
    Mistake(
        "number_of_pixels_compared",
        "images are only refused if their pixels are not as many; compare height and width",
        refused("H * W != self.image_size[0] * self.image_size[1]"),
    ),
    Mistake(
        "one_side_compared",
        "only one side of the images is compared; compare height and width",
        refused("H != self.image_size[0]"),
        refused("W != self.image_size[1]"),
        refused("H != self.image_size[0] and W != self.image_size[1]"),
    ),
    Mistake(
        "order_of_the_sides_ignored",
        "images on their side are not refused; compare height with height and width with width",
        refused("{H, W} != {*self.image_size}"),
        refused("sorted((H, W)) != sorted(self.image_size)"),
        refused("(H, W) != self.image_size and (W, H) != self.image_size"),
    ),
    Mistake(
        "divisible_images_pass",
        "images of another size pass if patch_size divides their sides; compare height and width",
        refused("H % self.patch_size or W % self.patch_size") | {ROWS: "patches = x.reshape(B, -1, C * P * P)"},
    ),
    Mistake(
        "images_resized",
        "images of another size are resized or cropped; refuse them",
        refused("H * W == 0")
        | {CUT: f"H, W = self.image_size\n        x = nn.functional.interpolate(x, size=(H, W))\n        {CUT}"},
        refused("H < self.image_size[0] or W < self.image_size[1]")
        | {CUT: f"H, W = self.image_size\n        x = x[:, :, :H, :W]\n        {CUT}"},
    ),
    Mistake(
        "fewer_channels_pass",
        "only images with more channels are refused; refuse any other number of channels",
        {OTHER_CHANNELS: "if C > self.in_channels:"},
    ),
    Mistake(
        "one_channel_repeated",
        "images with one channel are repeated to all channels; refuse them",
        {
            OTHER_CHANNELS: "if C == 1:\n            x, C = x.repeat(1, self.in_channels, 1, 1), self.in_channels\n"
            f"        {OTHER_CHANNELS}"
        },
    ),
    Mistake(
        "patch_by_patch",
        "a loop cuts or maps one patch at a time; reshape and permute cut all patches at once",
        {
            ROWS: f"x = x.permute(0, 3, 1, 4, 2, 5).reshape(B, C, H, W)\n        {PATCH_BY_PATCH}patches = torch.stack("
            "[x[:, :, i : i + P, j : j + P].reshape(B, -1) for i, j in corners], dim=1)"
        },
        slow=True,
    ),
    Mistake(
        "image_or_row_by_row",
        "a loop runs over the images, or over the rows or columns of patches; reshape and permute cut the patches of "
        "all images at once",
        {ROWS: "patches = torch.cat([x[:, row].reshape(B, W // P, C * P * P) for row in range(H // P)], dim=1)"},
        {ROWS: "patches = torch.stack([image.reshape(self.num_patches, C * P * P) for image in x])"},
        slow=True,
    ),
    Mistake(
        "all_products_at_once",
        "all products of pixels and weights are kept in a table before they are summed; call proj, or use @",
        mapped("(patches[:, :, None] * self.proj.weight).sum(-1) + self.proj.bias"),
        slow=True,
    ),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
DRAWN = "any initial values are right"
EQUIVALENT = {
    f"{POSITIONS} -> {POSITIONS.replace('0.02 *', '0.02 /')}": DRAWN,
    f"{POSITIONS} -> {POSITIONS.replace('0.02', '0.04')}": DRAWN,
    f"{FIRST} -> {FIRST.replace('B, -1', 'B, 1')}": "the class token is one row",
}
FIXED = {"length of *": "a size is an int or a pair"}
