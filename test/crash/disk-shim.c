/*
 * A disk under a program: stands between it and the C library (LD_PRELOAD), for the files below SHIM_ROOT alone.
 *
 *   SHIM_IMAGE=dir        what the disk holds: written bytes come there when they are flushed. A flush that fails drops
 *                         them, as Linux does: the program goes on reading them from memory, and no later flush brings
 *                         them to the disk.
 *   SHIM_KILL_AT=n        the process is killed before its n-th call that changes a file
 *   SHIM_READS=1          ... or that reads one
 *   SHIM_COUNT=file       how many such calls there were, in 20 digits
 *   SHIM_FAIL=call        fsync, write, read, open: it fails with SHIM_ERRNO (5: EIO) ...
 *   SHIM_FAIL_FILE=text   ... where the path holds this text, or, before a $, ends with it ...
 *   SHIM_FAIL_FROM=n SHIM_FAIL_TIMES=m  ... from the n-th such call on, m times ...
 *   SHIM_TRIGGER=file     ... and only while this file exists
 *
 * And a wall clock that is set: SHIM_CLOCK names a file that holds by how many seconds. Monotonic clocks go on.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

typedef struct Range {
  char path[PATH_MAX];
  off_t offset;
  size_t length;
  struct Range *next;
} Range;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Range *dirty;
static long changes, failures;

static const char *set(const char *name) {
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}

static long number(const char *name, long otherwise) {
  const char *value = set(name);
  return value ? atol(value) : otherwise;
}

static int is_ours(const char *path) {
  const char *root = set("SHIM_ROOT");
  return root && path && strncmp(path, root, strlen(root)) == 0;
}

static int path_of(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_ours(path);
}

static int image_of(const char *path, char *image) {
  const char *folder = set("SHIM_IMAGE");
  if (!folder) return 0;
  snprintf(image, PATH_MAX, "%s%s", folder, path + strlen(set("SHIM_ROOT")));
  return 1;
}

static int is_of(const char *path, const char *text) {
  size_t length = strlen(text), all = strlen(path);
  if (text[length - 1] != '$') return strstr(path, text) != NULL;
  return all >= length - 1 && strncmp(path + all - (length - 1), text, length - 1) == 0;
}

/* True: the call fails, and errno is set. */
static int fails(const char *call, const char *path) {
  const char *which = set("SHIM_FAIL"), *file = set("SHIM_FAIL_FILE"), *trigger = set("SHIM_TRIGGER");
  if (!which || strcmp(which, call) != 0 || (file && !is_of(path, file))) return 0;
  if (trigger && access(trigger, F_OK) != 0) return 0;
  pthread_mutex_lock(&lock);
  long nth = ++failures, from = number("SHIM_FAIL_FROM", 1);
  pthread_mutex_unlock(&lock);
  if (nth < from || nth >= from + number("SHIM_FAIL_TIMES", LONG_MAX / 2)) return 0;
  errno = (int)number("SHIM_ERRNO", EIO);
  return 1;
}

/* Before each call that changes a file. */
static void changing(void) {
  pthread_mutex_lock(&lock);
  changes++;
  const char *count = set("SHIM_COUNT");
  if (count) {
    int fd = REAL(open)(count, O_WRONLY | O_CREAT, 0600);
    char text[32];
    int length = snprintf(text, sizeof text, "%020ld\n", changes);
    if (fd >= 0 && REAL(pwrite)(fd, text, length, 0) == length) close(fd);
  }
  if (changes == number("SHIM_KILL_AT", -1)) kill(getpid(), SIGKILL);
  pthread_mutex_unlock(&lock);
}

static void wrote(const char *path, off_t offset, ssize_t length) {
  if (length <= 0 || !set("SHIM_IMAGE")) return;
  Range *range = malloc(sizeof *range);
  strcpy(range->path, path);
  range->offset = offset;
  range->length = length;
  pthread_mutex_lock(&lock);
  range->next = dirty;
  dirty = range;
  pthread_mutex_unlock(&lock);
}

/* Brings what was written of this file to the image, or forgets it. */
static void settle(int fd, const char *path, int to_disk) {
  char image[PATH_MAX], link[64];
  if (!image_of(path, image)) return;
  pthread_mutex_lock(&lock);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int from = to_disk ? REAL(open)(link, O_RDONLY) : -1, to = to_disk ? REAL(open)(image, O_RDWR | O_CREAT, 0600) : -1;
  Range **at = &dirty;
  while (*at) {
    Range *range = *at;
    if (strcmp(range->path, path) != 0) {
      at = &range->next;
      continue;
    }
    char *bytes = to_disk ? malloc(range->length) : NULL;
    if (bytes) {
      ssize_t length = REAL(pread)(from, bytes, range->length, range->offset);
      if (length > 0 && REAL(pwrite)(to, bytes, length, range->offset) != length) abort();
      free(bytes);
    }
    *at = range->next;
    free(range);
  }
  struct stat size;
  if (to_disk && fstat(from, &size) == 0 && REAL(ftruncate)(to, size.st_size) != 0) abort();
  if (from >= 0) close(from);
  if (to >= 0) close(to);
  pthread_mutex_unlock(&lock);
}

static int flush(int fd, int (*real)(int)) {
  char path[PATH_MAX];
  if (!path_of(fd, path)) return real(fd);
  changing();
  struct stat kind;
  int is_file = fstat(fd, &kind) == 0 && S_ISREG(kind.st_mode);
  if (fails("fsync", path)) {
    int reason = errno;
    if (is_file) settle(fd, path, 0);
    errno = reason;
    return -1;
  }
  int result = real(fd);
  if (result == 0 && is_file) settle(fd, path, 1);
  return result;
}

int fsync(int fd) { return flush(fd, REAL(fsync)); }
int fdatasync(int fd) { return flush(fd, REAL(fdatasync)); }

#define WRITES(name, offset_of, call)                     \
  {                                                       \
    char path[PATH_MAX];                                  \
    if (!path_of(fd, path)) return call;                  \
    changing();                                           \
    if (fails("write", path)) return -1;                  \
    off_t at = offset_of;                                 \
    ssize_t result = call;                                \
    int reason = errno;                                   \
    wrote(path, at, result);                              \
    errno = reason;                                       \
    return result;                                        \
  }

ssize_t write(int fd, const void *bytes, size_t length)
    WRITES(write, lseek(fd, 0, SEEK_CUR), REAL(write)(fd, bytes, length))
ssize_t writev(int fd, const struct iovec *parts, int count)
    WRITES(writev, lseek(fd, 0, SEEK_CUR), REAL(writev)(fd, parts, count))
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset)
    WRITES(pwrite, offset, REAL(pwrite)(fd, bytes, length, offset))
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset)
    WRITES(pwrite64, offset, REAL(pwrite64)(fd, bytes, length, offset))

#define READS(call)                                           \
  {                                                           \
    char path[PATH_MAX];                                      \
    if (path_of(fd, path)) {                                  \
      if (set("SHIM_READS")) changing();                      \
      if (fails("read", path)) return -1;                     \
    }                                                         \
    return call;                                              \
  }

ssize_t read(int fd, void *bytes, size_t length) READS(REAL(read)(fd, bytes, length))
ssize_t pread(int fd, void *bytes, size_t length, off_t offset) READS(REAL(pread)(fd, bytes, length, offset))
ssize_t pread64(int fd, void *bytes, size_t length, off64_t offset) READS(REAL(pread64)(fd, bytes, length, offset))

int ftruncate(int fd, off_t length) {
  char path[PATH_MAX];
  if (path_of(fd, path)) changing();
  return REAL(ftruncate)(fd, length);
}
int ftruncate64(int fd, off64_t length) {
  char path[PATH_MAX];
  if (path_of(fd, path)) changing();
  return REAL(ftruncate64)(fd, length);
}

int unlink(const char *path) {
  char image[PATH_MAX];
  if (is_ours(path)) {
    changing();
    if (image_of(path, image)) REAL(unlink)(image);
  }
  return REAL(unlink)(path);
}

int rename(const char *from, const char *to) {
  char image_from[PATH_MAX], image_to[PATH_MAX];
  if (is_ours(from)) {
    changing();
    if (image_of(from, image_from) && image_of(to, image_to)) REAL(rename)(image_from, image_to);
  }
  return REAL(rename)(from, to);
}

/* Names come to the disk at once, as those of files do. */
int mkdir(const char *path, mode_t mode) {
  char image[PATH_MAX];
  if (is_ours(path) && image_of(path, image)) REAL(mkdir)(image, mode);
  return REAL(mkdir)(path, mode);
}

int link(const char *from, const char *to) {
  char image_from[PATH_MAX], image_to[PATH_MAX];
  if (is_ours(from) && image_of(from, image_from) && image_of(to, image_to)) REAL(link)(image_from, image_to);
  return REAL(link)(from, to);
}

static int opens(const char *path, int flags, int (*real)(const char *, int, ...), mode_t mode) {
  if (is_ours(path)) {
    if (flags & O_CREAT) changing();
    if (fails("open", path)) return -1;
  }
  return real(path, flags, mode);
}

#define MODE                                    \
  va_list rest;                                 \
  va_start(rest, flags);                        \
  mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0; \
  va_end(rest);

int open(const char *path, int flags, ...) {
  MODE
  return opens(path, flags, REAL(open), mode);
}
int open64(const char *path, int flags, ...) {
  MODE
  return opens(path, flags, REAL(open64), mode);
}

static long clock_is_set_by(void) {
  const char *path = set("SHIM_CLOCK");
  if (!path) return 0;
  int fd = REAL(open)(path, O_RDONLY);
  if (fd < 0) return 0;
  char text[32] = {0};
  ssize_t length = REAL(read)(fd, text, sizeof text - 1);
  close(fd);
  return length > 0 ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = REAL(clock_gettime)(clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += clock_is_set_by();
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  int result = REAL(gettimeofday)(time, zone);
  if (result == 0) time->tv_sec += clock_is_set_by();
  return result;
}
