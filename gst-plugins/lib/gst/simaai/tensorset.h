// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensors of one buffer: a plain tensor or a set of them, and how to get at their bytes.
#pragma once

#include <gst/gst.h>
#include <gst/simaai/tensorinfo.h>
#include <gst/simaai/visibility.h>

// NOLINTBEGIN(readability-identifier-naming): C, as GLib spells it.
G_BEGIN_DECLS

/**
 * GST_SIMAAI_MAX_TENSORS:
 *
 * Most tensors of a set: a #GstBuffer merges its memories beyond that number.
 */
#define GST_SIMAAI_MAX_TENSORS 16

#define GST_SIMAAI_TYPE_TENSOR_SET (gst_simaai_tensor_set_get_type())

/**
 * GstSimaaiTensorSet:
 *
 * What the buffers of a stream hold. Reading from several threads is safe, writing is for one thread.
 *
 * With an offset in each tensor all are in one memory. As outputs of elements, what is written then must be apart, and each offset
 * a multiple of gst_simaai_tensor_info_get_alignment(): a set that is made here has no size and no caps otherwise. A set that was
 * read from caps may be any that elements take as input; where its tensors overlap or an offset is not aligned, they can be
 * read and not written, and there is no pool for it.
 */
typedef struct _GstSimaaiTensorSet GstSimaaiTensorSet;

/**
 * GstSimaaiTensorMap:
 * @data: first byte of the tensor
 * @size: bytes that are its own, padding and gaps included
 *
 * Access of the CPU to one tensor of a buffer, from gst_simaai_tensor_set_map() to gst_simaai_tensor_map_unmap().
 */
typedef struct {
  guint8* data;
  gsize size;
  /*< private >*/
  GstMemory* memory;
  GstMapInfo info;
  gpointer reserved[GST_PADDING];
} GstSimaaiTensorMap;

GST_SIMAAI_API GType gst_simaai_tensor_set_get_type(void);

/**
 * gst_simaai_tensor_set_new: (constructor)
 *
 * A set without tensors, for gst_simaai_tensor_set_append(): until then it has no size and no caps.
 *
 * Returns: (transfer full): the set
 */
GST_SIMAAI_API GstSimaaiTensorSet* gst_simaai_tensor_set_new(void);

/**
 * gst_simaai_tensor_set_new_from_caps: (constructor)
 * @caps: fixed caps of a plain tensor or of a set
 * @error: why they cannot be read
 *
 * Whether buffers of these caps can be is for gst_simaai_tensor_set_get_size() to say.
 *
 * Returns: (transfer full) (nullable): the set
 */
GST_SIMAAI_API GstSimaaiTensorSet* gst_simaai_tensor_set_new_from_caps(GstCaps* caps,
                                                                       GError** error);

/**
 * gst_simaai_tensor_set_copy:
 * @set: a set
 *
 * Returns: (transfer full): a copy
 */
GST_SIMAAI_API GstSimaaiTensorSet* gst_simaai_tensor_set_copy(const GstSimaaiTensorSet* set);

/**
 * gst_simaai_tensor_set_free:
 * @set: (transfer full) (nullable): a set
 */
GST_SIMAAI_API void gst_simaai_tensor_set_free(GstSimaaiTensorSet* set);

/**
 * gst_simaai_tensor_set_is_plain:
 * @set: a set
 *
 * Returns: whether it came from caps of a plain tensor, and so has the caps of one
 */
GST_SIMAAI_API gboolean gst_simaai_tensor_set_is_plain(const GstSimaaiTensorSet* set);

/**
 * gst_simaai_tensor_set_get_length:
 * @set: a set
 *
 * Returns: number of tensors
 */
GST_SIMAAI_API guint gst_simaai_tensor_set_get_length(const GstSimaaiTensorSet* set);

/**
 * gst_simaai_tensor_set_get_tensor:
 * @set: a set
 * @index: below gst_simaai_tensor_set_get_length()
 *
 * The framerate of a stream of sets is that of the set.
 *
 * Returns: (transfer full) (nullable): a copy of that tensor; %NULL where there is none
 */
GST_SIMAAI_API GstSimaaiTensorInfo* gst_simaai_tensor_set_get_tensor(const GstSimaaiTensorSet* set,
                                                                     guint index);

/**
 * gst_simaai_tensor_set_append:
 * @set: a set, which is no longer plain
 * @info: the next tensor, which is copied
 *
 * The set is one that is made here from now on.
 *
 * Returns: %FALSE, and nothing changed, where the set has %GST_SIMAAI_MAX_TENSORS already
 */
GST_SIMAAI_API gboolean gst_simaai_tensor_set_append(GstSimaaiTensorSet* set,
                                                     const GstSimaaiTensorInfo* info);

/**
 * gst_simaai_tensor_set_get_framerate:
 * @set: a set
 * @numerator: (out): frames
 * @denominator: (out): in as many seconds
 *
 * Returns: whether @set has a framerate
 */
GST_SIMAAI_API gboolean gst_simaai_tensor_set_get_framerate(const GstSimaaiTensorSet* set,
                                                            gint* numerator, gint* denominator);

/**
 * gst_simaai_tensor_set_set_framerate:
 * @set: a set
 * @numerator: frames, from 0
 * @denominator: in as many seconds, from 1; 0 unsets it
 */
GST_SIMAAI_API void gst_simaai_tensor_set_set_framerate(GstSimaaiTensorSet* set, gint numerator,
                                                        gint denominator);

/**
 * gst_simaai_tensor_set_to_caps:
 * @set: a set
 * @error: why it has no caps
 *
 * Refuses what gst_simaai_tensor_set_get_size() refuses.
 *
 * Returns: (transfer full) (nullable): fixed caps in system memory
 */
GST_SIMAAI_API GstCaps* gst_simaai_tensor_set_to_caps(const GstSimaaiTensorSet* set,
                                                      GError** error);

/**
 * gst_simaai_tensor_set_get_size:
 * @set: a set
 * @bytes: (out): what a buffer must hold at least
 * @error: why there can be no such buffer
 *
 * Returns: whether @bytes is set
 */
GST_SIMAAI_API gboolean gst_simaai_tensor_set_get_size(const GstSimaaiTensorSet* set,
                                                       guint64* bytes, GError** error);

/**
 * gst_simaai_tensor_set_get_memory:
 * @set: what the buffers hold
 * @buffer: one of them
 * @index: which tensor
 * @offset: (out): bytes before it in the memory
 * @size: (out): bytes that are its own
 * @error: why it is not in one memory
 *
 * Where a tensor is; nothing is mapped or copied. For gst_memory_map(), or for the descriptor of a DMA-BUF, whose first
 * byte is the memory's own offset further on. Alignment is not looked at. An empty tensor has an empty memory.
 *
 * The memory may outlive the buffer: a pool of gst_simaai_pool_new() does not hand it out again before it is let go.
 *
 * Returns: (transfer full) (nullable): the memory
 */
GST_SIMAAI_API GstMemory* gst_simaai_tensor_set_get_memory(const GstSimaaiTensorSet* set,
                                                           GstBuffer* buffer, guint index,
                                                           gsize* offset, gsize* size,
                                                           GError** error);

/**
 * gst_simaai_tensor_set_map: (skip)
 * @set: what the buffers hold
 * @buffer: one of them
 * @index: which tensor
 * @flags: access: %GST_MAP_READ, %GST_MAP_WRITE or both
 * @map: (out caller-allocates): the access
 * @error: why there is none
 *
 * Maps the memory of one tensor. Never copies: a tensor that is spread over several memories, or whose first byte is not
 * aligned to gst_simaai_tensor_info_get_alignment(), is an error. To write, the buffer must be writable, and the tensors of
 * the set apart. DMA-BUFs are synchronised between this and gst_simaai_tensor_map_unmap(). @map keeps the memory; the buffer may go.
 *
 * Returns: whether @map is set
 */
GST_SIMAAI_API gboolean gst_simaai_tensor_set_map(const GstSimaaiTensorSet* set, GstBuffer* buffer,
                                                  guint index, GstMapFlags flags,
                                                  GstSimaaiTensorMap* map, GError** error);

/**
 * gst_simaai_tensor_map_unmap: (skip)
 * @map: an access, which ends
 */
GST_SIMAAI_API void gst_simaai_tensor_map_unmap(GstSimaaiTensorMap* map);

/**
 * gst_simaai_tensor_set_read:
 * @set: what the buffers hold
 * @buffer: one of them
 * @index: which tensor
 * @error: why it cannot be read
 *
 * For languages whose bindings cannot map, and for tensors that are not aligned; copies.
 *
 * Returns: (transfer full) (nullable): the bytes of a tensor
 */
GST_SIMAAI_API GBytes* gst_simaai_tensor_set_read(const GstSimaaiTensorSet* set, GstBuffer* buffer,
                                                  guint index, GError** error);

/**
 * gst_simaai_tensor_set_write:
 * @set: what the buffers hold
 * @buffer: one of them, writable
 * @index: which tensor
 * @bytes: exactly its bytes
 * @error: why it cannot be written
 *
 * For languages whose bindings cannot map, and for tensors that are not aligned; copies. A refused call has written nothing.
 *
 * Returns: whether the tensor was written
 */
GST_SIMAAI_API gboolean gst_simaai_tensor_set_write(const GstSimaaiTensorSet* set,
                                                    GstBuffer* buffer, guint index, GBytes* bytes,
                                                    GError** error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstSimaaiTensorSet, gst_simaai_tensor_set_free)

G_END_DECLS
// NOLINTEND(readability-identifier-naming)
