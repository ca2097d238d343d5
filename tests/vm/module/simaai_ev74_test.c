// SPDX-License-Identifier: LGPL-2.1-or-later
// Test driver of the EV74: imports DMA-BUFs of clients and hands their packets to a process that is the device.
//
// /dev/simaai-ev74 is what ev74_uapi.h describes, /dev/simaai-ev74-model the other end (model_uapi.h). One lock protects everything. A
// job is in `waiting`, in `running` or, with its completion, in its client's `done`; it holds a reference of its client and of both
// objects, the objects until it is done.
#include <linux/dma-buf.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/wait.h>

#include "model_uapi.h"

struct client {
  struct kref references;
  struct list_head among; ///< in clients, while open
  struct list_head done;
  wait_queue_head_t news;
  u64 number;
  u32 in_flight;
  bool lost; ///< the device that it was opened on is gone
};

struct job {
  struct list_head among;
  struct client* client;
  struct dma_buf* objects[2];
  u64 serial;
  struct SimaaiEv74Submit submit;
  struct SimaaiEv74Completion completion;
};

static DEFINE_MUTEX(lock);
static LIST_HEAD(clients);
static LIST_HEAD(waiting);
static LIST_HEAD(running);
static DECLARE_WAIT_QUEUE_HEAD(model_news);
static bool model_open;
static bool attached;
static struct SimaaiEv74Info info;
static u64 last_number;

static void free_client(struct kref* references) {
  kfree(container_of(references, struct client, references));
}

static void release_objects(struct job* job) {
  int port;

  for (port = 0; port < 2; ++port)
    if (job->objects[port]) {
      dma_buf_put(job->objects[port]);
      job->objects[port] = NULL;
    }
}

static void free_job(struct job* job) {
  release_objects(job);
  kref_put(&job->client->references, free_client);
  kfree(job);
}

static void free_jobs(struct list_head* jobs, struct client* only) {
  struct job *job, *next;

  list_for_each_entry_safe(job, next, jobs, among) if (!only || job->client == only) {
    list_del(&job->among);
    free_job(job);
  }
}

static int client_open(struct inode* inode, struct file* file) {
  struct client* client = kzalloc(sizeof(*client), GFP_KERNEL);

  if (!client)
    return -ENOMEM;
  kref_init(&client->references);
  INIT_LIST_HEAD(&client->done);
  init_waitqueue_head(&client->news);
  mutex_lock(&lock);
  if (!attached) {
    mutex_unlock(&lock);
    kfree(client);
    return -ENODEV;
  }
  client->number = ++last_number;
  list_add(&client->among, &clients);
  mutex_unlock(&lock);
  file->private_data = client;
  return 0;
}

static int client_release(struct inode* inode, struct file* file) {
  struct client* client = file->private_data;

  mutex_lock(&lock);
  list_del_init(&client->among);
  free_jobs(&waiting, client);
  free_jobs(&client->done, client);
  mutex_unlock(&lock);
  kref_put(&client->references, free_client); // a running job may have another
  return 0;
}

/// Takes the object of one port after checking what the client says about it.
static int import(struct job* job, int port) {
  const struct SimaaiEv74Relocation* at = &job->submit.relocations[port];
  struct dma_buf* object = dma_buf_get(at->fd);

  if (IS_ERR(object))
    return -EBADF;
  job->objects[port] = object;
  if (at->reserved || at->writes > 1 || at->length_bytes > object->size ||
      at->offset_bytes > object->size - at->length_bytes)
    return -EINVAL;
  if (at->writes && !(object->file->f_mode & FMODE_WRITE))
    return -EACCES;
  return 0;
}

static int enqueue(struct client* client, struct job* job) {
  int failed = 0;

  mutex_lock(&lock);
  if (client->lost)
    failed = -ENODEV;
  else if (client->in_flight >= info.queue_limit)
    failed = -EAGAIN;
  if (!failed) {
    ++client->in_flight;
    job->serial = ++last_number;
    list_add_tail(&job->among, &waiting);
    wake_up_interruptible(&model_news);
  }
  mutex_unlock(&lock);
  return failed;
}

static long submit(struct client* client, const void __user* from) {
  struct job* job = kzalloc(sizeof(*job), GFP_KERNEL);
  int failed = -EFAULT;

  if (!job)
    return -ENOMEM;
  kref_get(&client->references);
  job->client = client;
  if (!copy_from_user(&job->submit, from, sizeof(job->submit))) {
    failed =
        job->submit.reserved || job->submit.packet_bytes > SIMAAI_EV74_PACKET_BYTES ? -EINVAL : 0;
    failed = failed ?: import(job, 0);
    failed = failed ?: import(job, 1);
    failed = failed ?: enqueue(client, job);
  }
  if (failed)
    free_job(job);
  return failed;
}

static long client_ioctl(struct file* file, unsigned int request, unsigned long argument) {
  switch (request) {
  case SIMAAI_EV74_IOCTL_INFO:
    return copy_to_user((void __user*)argument, &info, sizeof(info)) ? -EFAULT : 0;
  case SIMAAI_EV74_IOCTL_SUBMIT:
    return submit(file->private_data, (const void __user*)argument);
  default:
    return -ENOTTY;
  }
}

/// One completion; the job is gone with it.
static ssize_t client_read(struct file* file, char __user* into, size_t room, loff_t* position) {
  struct client* client = file->private_data;
  ssize_t result = sizeof(struct SimaaiEv74Completion);
  struct job* job;

  if (room < sizeof(struct SimaaiEv74Completion))
    return -EINVAL;
  mutex_lock(&lock);
  job = list_first_entry_or_null(&client->done, struct job, among);
  if (!job)
    result = client->lost ? 0 : -EAGAIN;
  else if (copy_to_user(into, &job->completion, sizeof(job->completion)))
    result = -EFAULT;
  if (job && result > 0) {
    list_del(&job->among);
    free_job(job);
  }
  mutex_unlock(&lock);
  return result;
}

static __poll_t client_poll(struct file* file, poll_table* table) {
  struct client* client = file->private_data;
  __poll_t events;

  poll_wait(file, &client->news, table);
  mutex_lock(&lock);
  events = (list_empty(&client->done) ? 0 : EPOLLIN) | (client->lost ? EPOLLHUP : 0);
  mutex_unlock(&lock);
  return events;
}

static int model_open_node(struct inode* inode, struct file* file) {
  int failed = 0;

  mutex_lock(&lock);
  if (model_open)
    failed = -EBUSY;
  else
    model_open = true;
  mutex_unlock(&lock);
  return failed;
}

/// The device is gone: nobody runs a job any more.
static int model_release(struct inode* inode, struct file* file) {
  struct client* client;

  mutex_lock(&lock);
  attached = false;
  model_open = false;
  free_jobs(&waiting, NULL);
  free_jobs(&running, NULL);
  list_for_each_entry(client, &clients, among) {
    client->lost = true;
    wake_up_interruptible(&client->news);
  }
  mutex_unlock(&lock);
  return 0;
}

static long model_ioctl(struct file* file, unsigned int request, unsigned long argument) {
  long failed = 0;

  if (request != SIMAAI_EV74_MODEL_IOCTL_ATTACH)
    return -ENOTTY;
  mutex_lock(&lock);
  if (attached)
    failed = -EBUSY;
  else if (copy_from_user(&info, (const void __user*)argument, sizeof(info)))
    failed = -EFAULT;
  else
    attached = true;
  mutex_unlock(&lock);
  return failed;
}

/// Opens both objects in the reading process.
static int export(struct job* job, struct SimaaiEv74ModelJob* into) {
  int port;

  into->serial = job->serial;
  into->client = job->client->number;
  into->submit = job->submit;
  for (port = 0; port < 2; ++port) {
    int fd;

    get_dma_buf(job->objects[port]);
    fd = dma_buf_fd(job->objects[port], O_CLOEXEC);
    if (fd < 0) {
      dma_buf_put(job->objects[port]);
      return fd;
    }
    into->submit.relocations[port].fd = fd;
  }
  return 0;
}

static ssize_t model_read(struct file* file, char __user* into, size_t room, loff_t* position) {
  struct SimaaiEv74ModelJob* out;
  struct job* job;
  ssize_t result = sizeof(*out);
  int failed;

  if (room < sizeof(*out))
    return -EINVAL;
  out = kzalloc(sizeof(*out), GFP_KERNEL);
  if (!out)
    return -ENOMEM;
  failed = wait_event_interruptible(model_news, !list_empty_careful(&waiting));
  mutex_lock(&lock);
  job = list_first_entry_or_null(&waiting, struct job, among);
  if (!failed && !job)
    failed = -EAGAIN;
  if (!failed)
    failed = export(job, out);
  if (!failed)
    list_move_tail(&job->among, &running);
  mutex_unlock(&lock);
  if (failed)
    result = failed;
  else if (copy_to_user(into, out, sizeof(*out)))
    result = -EFAULT;
  kfree(out);
  return result;
}

static ssize_t model_write(struct file* file, const char __user* from, size_t size,
                           loff_t* position) {
  struct SimaaiEv74ModelDone done;
  ssize_t result = -ENOENT;
  struct job* job;

  if (size != sizeof(done))
    return -EINVAL;
  if (copy_from_user(&done, from, sizeof(done)))
    return -EFAULT;
  mutex_lock(&lock);
  list_for_each_entry(job, &running, among) if (job->serial == done.serial) {
    job->completion = done.completion;
    job->completion.job = job->submit.job;
    release_objects(job);
    --job->client->in_flight;
    // A client that closed meanwhile is in no list.
    if (list_empty(&job->client->among)) {
      list_del(&job->among);
      free_job(job);
    } else {
      list_move_tail(&job->among, &job->client->done);
      wake_up_interruptible(&job->client->news);
    }
    result = size;
    break;
  }
  mutex_unlock(&lock);
  return result;
}

static const struct file_operations client_operations = {
    .owner = THIS_MODULE,
    .open = client_open,
    .release = client_release,
    .unlocked_ioctl = client_ioctl,
    .read = client_read,
    .poll = client_poll,
};

static const struct file_operations model_operations = {
    .owner = THIS_MODULE,
    .open = model_open_node,
    .release = model_release,
    .unlocked_ioctl = model_ioctl,
    .read = model_read,
    .write = model_write,
};

static struct miscdevice client_node = {
    .minor = MISC_DYNAMIC_MINOR,
    .name = "simaai-ev74",
    .fops = &client_operations,
};

static struct miscdevice model_node = {
    .minor = MISC_DYNAMIC_MINOR,
    .name = "simaai-ev74-model",
    .fops = &model_operations,
};

static int __init start(void) {
  int failed = misc_register(&client_node);

  if (failed)
    return failed;
  failed = misc_register(&model_node);
  if (failed)
    misc_deregister(&client_node);
  return failed;
}

static void __exit stop(void) {
  misc_deregister(&model_node);
  misc_deregister(&client_node);
}

module_init(start);
module_exit(stop);
MODULE_DESCRIPTION("Test driver of the EV74 over a process");
MODULE_LICENSE("GPL"); // the LGPL allows it
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
MODULE_IMPORT_NS("DMA_BUF");
#else
MODULE_IMPORT_NS(DMA_BUF);
#endif
