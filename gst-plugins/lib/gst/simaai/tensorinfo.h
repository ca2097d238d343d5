// SPDX-License-Identifier: LGPL-2.1-or-later
// What caps say about one tensor, with getters and setters that need no GstValueArray.
#pragma once

#include <gst/gst.h>
#include <gst/simaai/visibility.h>

// NOLINTBEGIN(readability-identifier-naming): C, as GLib spells it.
G_BEGIN_DECLS

/**
 * GST_SIMAAI_MAX_RANK:
 *
 * Most extents that a tensor has.
 */
#define GST_SIMAAI_MAX_RANK 6

/**
 * GST_SIMAAI_ERROR:
 *
 * Error domain of this library; codes are #GstSimaaiError.
 */
#define GST_SIMAAI_ERROR (gst_simaai_error_quark())

/**
 * GstSimaaiError:
 * @GST_SIMAAI_ERROR_CAPS: caps do not describe tensors; the message names the field
 * @GST_SIMAAI_ERROR_TENSOR: a tensor or set that cannot be: rank, extents, strides, tiles, size, quantization, name, framerate,
 *   offsets; or one that cannot be written
 * @GST_SIMAAI_ERROR_BUFFER: a buffer that does not hold what is looked for
 * @GST_SIMAAI_ERROR_POOL: a pool that refuses its configuration
 *
 * Why a call was refused. Messages say what was expected and what was found.
 */
typedef enum {
  GST_SIMAAI_ERROR_CAPS,
  GST_SIMAAI_ERROR_TENSOR,
  GST_SIMAAI_ERROR_BUFFER,
  GST_SIMAAI_ERROR_POOL,
} GstSimaaiError;

/**
 * GstSimaaiDtype:
 * @GST_SIMAAI_DTYPE_INT8: signed bytes, as a rule quantized
 * @GST_SIMAAI_DTYPE_UINT8: bytes of pictures
 * @GST_SIMAAI_DTYPE_INT32: sums of products
 * @GST_SIMAAI_DTYPE_FLOAT16: IEEE binary16
 * @GST_SIMAAI_DTYPE_BFLOAT16: upper half of binary32
 * @GST_SIMAAI_DTYPE_FLOAT32: IEEE binary32
 *
 * Type of one element; the caps field `dtype`.
 */
typedef enum {
  GST_SIMAAI_DTYPE_INT8,
  GST_SIMAAI_DTYPE_UINT8,
  GST_SIMAAI_DTYPE_INT32,
  GST_SIMAAI_DTYPE_FLOAT16,
  GST_SIMAAI_DTYPE_BFLOAT16,
  GST_SIMAAI_DTYPE_FLOAT32,
} GstSimaaiDtype;

/**
 * GstSimaaiLayout:
 * @GST_SIMAAI_LAYOUT_CONTIGUOUS: row-major without gaps
 * @GST_SIMAAI_LAYOUT_STRIDED: byte strides, one an extent
 * @GST_SIMAAI_LAYOUT_MLA_TILED: tiles of an accelerator
 * @GST_SIMAAI_LAYOUT_MLA_CBLOCKED: tiles with blocks of 16 channels outermost
 *
 * How elements lie in memory; the caps field `layout`.
 */
typedef enum {
  GST_SIMAAI_LAYOUT_CONTIGUOUS,
  GST_SIMAAI_LAYOUT_STRIDED,
  GST_SIMAAI_LAYOUT_MLA_TILED,
  GST_SIMAAI_LAYOUT_MLA_CBLOCKED,
} GstSimaaiLayout;

/**
 * GstSimaaiChannelStorage:
 * @GST_SIMAAI_CHANNEL_STORAGE_COMPACT: as many channels as there are
 * @GST_SIMAAI_CHANNEL_STORAGE_PAD16: rounded up to a multiple of 16
 *
 * Channels that a tile stores; the caps field `channel-storage`.
 */
typedef enum {
  GST_SIMAAI_CHANNEL_STORAGE_COMPACT,
  GST_SIMAAI_CHANNEL_STORAGE_PAD16,
} GstSimaaiChannelStorage;

#define GST_SIMAAI_TYPE_TENSOR_INFO (gst_simaai_tensor_info_get_type())

/**
 * GstSimaaiTensorInfo:
 *
 * One tensor: plain data. Setters check counts only; whether the tensor can be is for
 * gst_simaai_tensor_info_get_size() and gst_simaai_tensor_info_to_caps() to say, which refuse the same: what the elements
 * refuse in caps.
 *
 * Reading from several threads is safe, writing is for one thread.
 */
typedef struct _GstSimaaiTensorInfo GstSimaaiTensorInfo;

/**
 * gst_simaai_error_quark:
 *
 * Returns: the domain of the library's errors
 */
GST_SIMAAI_API GQuark gst_simaai_error_quark(void);

/**
 * gst_simaai_dtype_get_bytes:
 * @dtype: type of an element
 *
 * Returns: bytes of one element; 0 where @dtype is no enumerator
 */
GST_SIMAAI_API guint gst_simaai_dtype_get_bytes(GstSimaaiDtype dtype);

/**
 * gst_simaai_dtype_get_name:
 * @dtype: type of an element
 *
 * Returns: its word in caps, such as `bfloat16`; "unknown" where @dtype is no enumerator
 */
GST_SIMAAI_API const gchar* gst_simaai_dtype_get_name(GstSimaaiDtype dtype);

GST_SIMAAI_API GType gst_simaai_tensor_info_get_type(void);

/**
 * gst_simaai_tensor_info_new: (constructor)
 * @dtype: type of an element
 * @shape: (array length=rank) (nullable): extents, outermost first
 * @rank: number of extents, 0 (a scalar) to %GST_SIMAAI_MAX_RANK
 *
 * A contiguous tensor.
 *
 * Returns: (transfer full) (nullable): the tensor; %NULL where @rank is larger
 */
GST_SIMAAI_API GstSimaaiTensorInfo* gst_simaai_tensor_info_new(GstSimaaiDtype dtype,
                                                               const gint* shape, gsize rank);

/**
 * gst_simaai_tensor_info_new_from_caps: (constructor)
 * @caps: fixed caps of a plain tensor
 * @error: why they cannot be read
 *
 * Sets have gst_simaai_tensor_set_new_from_caps(), which reads these too. A field `offset` is refused: it belongs to
 * tensors of a set.
 *
 * Returns: (transfer full) (nullable): the tensor
 */
GST_SIMAAI_API GstSimaaiTensorInfo* gst_simaai_tensor_info_new_from_caps(GstCaps* caps,
                                                                         GError** error);

/**
 * gst_simaai_tensor_info_copy:
 * @info: a tensor
 *
 * Returns: (transfer full): a copy
 */
GST_SIMAAI_API GstSimaaiTensorInfo* gst_simaai_tensor_info_copy(const GstSimaaiTensorInfo* info);

/**
 * gst_simaai_tensor_info_free:
 * @info: (transfer full) (nullable): a tensor
 */
GST_SIMAAI_API void gst_simaai_tensor_info_free(GstSimaaiTensorInfo* info);

/**
 * gst_simaai_tensor_info_to_caps:
 * @info: a tensor
 * @error: why it cannot be
 *
 * Caps of this tensor alone: without the offset that it has in a set.
 *
 * Returns: (transfer full) (nullable): fixed caps in system memory
 */
GST_SIMAAI_API GstCaps* gst_simaai_tensor_info_to_caps(const GstSimaaiTensorInfo* info,
                                                       GError** error);

/**
 * gst_simaai_tensor_info_get_size:
 * @info: a tensor
 * @bytes: (out): what its elements, padding and gaps take
 * @error: why the tensor cannot be
 *
 * Returns: whether @bytes is set
 */
GST_SIMAAI_API gboolean gst_simaai_tensor_info_get_size(const GstSimaaiTensorInfo* info,
                                                        guint64* bytes, GError** error);

/**
 * gst_simaai_tensor_info_get_alignment:
 * @info: a tensor
 *
 * Returns: bytes to which its first one must be aligned: 16 for tiles, else the width of an element
 */
GST_SIMAAI_API guint gst_simaai_tensor_info_get_alignment(const GstSimaaiTensorInfo* info);

/**
 * gst_simaai_tensor_info_get_dtype:
 * @info: a tensor
 *
 * Returns: type of its elements
 */
GST_SIMAAI_API GstSimaaiDtype gst_simaai_tensor_info_get_dtype(const GstSimaaiTensorInfo* info);

/**
 * gst_simaai_tensor_info_set_dtype:
 * @info: a tensor
 * @dtype: type of its elements
 */
GST_SIMAAI_API void gst_simaai_tensor_info_set_dtype(GstSimaaiTensorInfo* info,
                                                     GstSimaaiDtype dtype);

/**
 * gst_simaai_tensor_info_get_shape:
 * @info: a tensor
 * @rank: (out): number of extents
 *
 * Returns: (array length=rank) (transfer none): extents, outermost first, until @info is changed
 */
GST_SIMAAI_API const gint* gst_simaai_tensor_info_get_shape(const GstSimaaiTensorInfo* info,
                                                            gsize* rank);

/**
 * gst_simaai_tensor_info_set_shape:
 * @info: a tensor
 * @shape: (array length=rank) (nullable): extents, outermost first
 * @rank: number of extents
 *
 * Returns: %FALSE, and nothing changed, where @rank is above %GST_SIMAAI_MAX_RANK
 */
GST_SIMAAI_API gboolean gst_simaai_tensor_info_set_shape(GstSimaaiTensorInfo* info,
                                                         const gint* shape, gsize rank);

/**
 * gst_simaai_tensor_info_get_layout:
 * @info: a tensor
 *
 * Returns: how its elements lie in memory
 */
GST_SIMAAI_API GstSimaaiLayout gst_simaai_tensor_info_get_layout(const GstSimaaiTensorInfo* info);

/**
 * gst_simaai_tensor_info_set_contiguous:
 * @info: a tensor, which becomes row-major without gaps
 */
GST_SIMAAI_API void gst_simaai_tensor_info_set_contiguous(GstSimaaiTensorInfo* info);

/**
 * gst_simaai_tensor_info_get_strides:
 * @info: a tensor
 * @rank: (out): number of strides; 0 for tiles
 *
 * Returns: (array length=rank) (transfer none) (nullable): bytes from one index to the next, row-major ones for a
 *   contiguous tensor, until @info is changed; %NULL for tiles and where they exceed 63 bits
 */
GST_SIMAAI_API const gint64* gst_simaai_tensor_info_get_strides(const GstSimaaiTensorInfo* info,
                                                                gsize* rank);

/**
 * gst_simaai_tensor_info_set_strided:
 * @info: a tensor
 * @strides: (array length=rank) (nullable): bytes from one index to the next, one an extent
 * @rank: number of strides
 *
 * Returns: %FALSE, and nothing changed, where there are not as many strides as extents
 */
GST_SIMAAI_API gboolean gst_simaai_tensor_info_set_strided(GstSimaaiTensorInfo* info,
                                                           const gint64* strides, gsize rank);

/**
 * gst_simaai_tensor_info_get_tile_axes: (skip)
 * @info: a tensor
 *
 * Returns: (array fixed-size=4) (transfer none) (nullable): logical axes of D, H, W and C, -1 for an absent one, until
 *   @info is changed; %NULL for linear tensors
 */
GST_SIMAAI_API const gint* gst_simaai_tensor_info_get_tile_axes(const GstSimaaiTensorInfo* info);

/**
 * gst_simaai_tensor_info_get_tile_axes_array: (rename-to gst_simaai_tensor_info_get_tile_axes)
 * @info: a tensor
 * @count: (out): number of axes: 4, or 0 for linear tensors
 *
 * The same for languages whose bindings need the length of an array.
 *
 * Returns: (array length=count) (transfer none) (nullable): logical axes of D, H, W and C, -1 for an absent one, until
 *   @info is changed; %NULL for linear tensors
 */
GST_SIMAAI_API const gint*
gst_simaai_tensor_info_get_tile_axes_array(const GstSimaaiTensorInfo* info, gsize* count);

/**
 * gst_simaai_tensor_info_get_tile_shape: (skip)
 * @info: a tensor
 *
 * Returns: (array fixed-size=4) (transfer none) (nullable): elements of a tile along D, H, W and C, until @info is
 *   changed; %NULL for linear tensors
 */
GST_SIMAAI_API const gint* gst_simaai_tensor_info_get_tile_shape(const GstSimaaiTensorInfo* info);

/**
 * gst_simaai_tensor_info_get_tile_shape_array: (rename-to gst_simaai_tensor_info_get_tile_shape)
 * @info: a tensor
 * @count: (out): number of extents: 4, or 0 for linear tensors
 *
 * The same for languages whose bindings need the length of an array.
 *
 * Returns: (array length=count) (transfer none) (nullable): elements of a tile along D, H, W and C, until @info is
 *   changed; %NULL for linear tensors
 */
GST_SIMAAI_API const gint*
gst_simaai_tensor_info_get_tile_shape_array(const GstSimaaiTensorInfo* info, gsize* count);

/**
 * gst_simaai_tensor_info_get_channel_storage:
 * @info: a tensor
 *
 * Returns: channels that its tiles store; compact for linear tensors
 */
GST_SIMAAI_API GstSimaaiChannelStorage
gst_simaai_tensor_info_get_channel_storage(const GstSimaaiTensorInfo* info);

/**
 * gst_simaai_tensor_info_set_mla_tiled:
 * @info: a tensor
 * @axes: (array fixed-size=4): logical axes of D, H, W and C, -1 for an absent one
 * @tile_shape: (array fixed-size=4): elements of a tile along D, H, W and C
 * @storage: channels that a tile stores
 */
GST_SIMAAI_API void gst_simaai_tensor_info_set_mla_tiled(GstSimaaiTensorInfo* info,
                                                         const gint* axes, const gint* tile_shape,
                                                         GstSimaaiChannelStorage storage);

/**
 * gst_simaai_tensor_info_set_mla_cblocked:
 * @info: a tensor
 * @tile_shape: (array fixed-size=4): elements of a tile along D (1), H, W and C
 */
GST_SIMAAI_API void gst_simaai_tensor_info_set_mla_cblocked(GstSimaaiTensorInfo* info,
                                                            const gint* tile_shape);

/**
 * gst_simaai_tensor_info_get_quantization:
 * @info: a tensor
 * @scale: (out): value of one step
 * @zero_point: (out): the integer that stands for zero
 *
 * Returns: whether @info has a quantization; a missing half reads as 1 or 0
 */
GST_SIMAAI_API gboolean gst_simaai_tensor_info_get_quantization(const GstSimaaiTensorInfo* info,
                                                                gdouble* scale, gint* zero_point);

/**
 * gst_simaai_tensor_info_set_quantization:
 * @info: a tensor
 * @scale: value of one step, finite and above 0
 * @zero_point: the integer that stands for zero; of int8 -128 to 127
 */
GST_SIMAAI_API void gst_simaai_tensor_info_set_quantization(GstSimaaiTensorInfo* info,
                                                            gdouble scale, gint zero_point);

/**
 * gst_simaai_tensor_info_unset_quantization:
 * @info: a tensor
 */
GST_SIMAAI_API void gst_simaai_tensor_info_unset_quantization(GstSimaaiTensorInfo* info);

/**
 * gst_simaai_tensor_info_get_tensor_id:
 * @info: a tensor
 *
 * Returns: (transfer none) (nullable): its name, until @info is changed
 */
GST_SIMAAI_API const gchar* gst_simaai_tensor_info_get_tensor_id(const GstSimaaiTensorInfo* info);

/**
 * gst_simaai_tensor_info_set_tensor_id:
 * @info: a tensor
 * @id: (nullable): its name in UTF-8; %NULL unsets it
 */
GST_SIMAAI_API void gst_simaai_tensor_info_set_tensor_id(GstSimaaiTensorInfo* info,
                                                         const gchar* id);

/**
 * gst_simaai_tensor_info_get_framerate:
 * @info: a tensor
 * @numerator: (out): frames
 * @denominator: (out): in as many seconds
 *
 * Returns: whether @info has a framerate
 */
GST_SIMAAI_API gboolean gst_simaai_tensor_info_get_framerate(const GstSimaaiTensorInfo* info,
                                                             gint* numerator, gint* denominator);

/**
 * gst_simaai_tensor_info_set_framerate:
 * @info: a tensor
 * @numerator: frames, from 0
 * @denominator: in as many seconds, from 1; 0 unsets it
 */
GST_SIMAAI_API void gst_simaai_tensor_info_set_framerate(GstSimaaiTensorInfo* info, gint numerator,
                                                         gint denominator);

/**
 * gst_simaai_tensor_info_get_offset:
 * @info: a tensor of a set
 *
 * Returns: bytes from the start of the buffer where the tensors of a set share a memory; -1 where there is none
 */
GST_SIMAAI_API gint64 gst_simaai_tensor_info_get_offset(const GstSimaaiTensorInfo* info);

/**
 * gst_simaai_tensor_info_set_offset:
 * @info: a tensor of a set
 * @offset: bytes from the start of the buffer, from 0; -1 unsets it
 *
 * For gst_simaai_tensor_set_append(): all tensors of a set have an offset, or none.
 */
GST_SIMAAI_API void gst_simaai_tensor_info_set_offset(GstSimaaiTensorInfo* info, gint64 offset);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstSimaaiTensorInfo, gst_simaai_tensor_info_free)

G_END_DECLS
// NOLINTEND(readability-identifier-naming)
