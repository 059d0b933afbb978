/*
 * Lets calls of the system about files below a folder fail, in a program that is started with it (LD_PRELOAD).
 *
 *   FAIL_BELOW  the folder
 *   FAIL_CALL   open, read, write, fsync, ftruncate, rename, mkdir, unlink or list; without it all calls are counted
 *   FAIL_FROM   the number of the first call of its kind that fails, from 1 on
 *   FAIL_TIMES  how many fail
 *   FAIL_WITH   the number of the error
 *   FAIL_TOLD   a file that is told how many calls of each kind there were: a line of a kind and a number each
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *const kinds[] = {"open", "read", "write", "fsync", "ftruncate", "rename", "mkdir", "unlink", "list"};
enum kind { OPEN, READ, WRITE, FSYNC, FTRUNCATE, RENAME, MKDIR, UNLINK, LIST, KINDS };

static atomic_long counts[KINDS];
static const char *below, *call;
static long first, times, error;

static long number(const char *name) {
  const char *text = getenv(name);
  return text == NULL ? 0 : atol(text);
}

__attribute__((constructor)) static void begin(void) {
  below = getenv("FAIL_BELOW");
  call = getenv("FAIL_CALL");
  first = number("FAIL_FROM");
  times = number("FAIL_TIMES");
  error = number("FAIL_WITH");
}

__attribute__((destructor)) static void end(void) {
  const char *told = getenv("FAIL_TOLD");
  FILE *file = told == NULL ? NULL : fopen(told, "w");
  if (file == NULL) return;
  for (int kind = 0; kind < KINDS; kind++) fprintf(file, "%s %ld\n", kinds[kind], atomic_load(&counts[kind]));
  fclose(file);
}

static int fails(enum kind kind, const char *path) {
  if (below == NULL || path == NULL || strncmp(path, below, strlen(below)) != 0) return 0;
  long count = atomic_fetch_add(&counts[kind], 1) + 1;
  if (call == NULL || strcmp(call, kinds[kind]) != 0 || count < first || count >= first + times) return 0;
  errno = (int)error;
  return 1;
}

static int fails_open(enum kind kind, int fd) {
  char link[64], path[4096];
  int before = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, path, sizeof path - 1);
  errno = before;
  if (size < 0) return 0;
  path[size] = 0;
  return fails(kind, path);
}

/* A function of the C library in front of the one that it stands for. */
#define BEFORE(type, name, parameters, arguments, failing, failed) \
  type name parameters {                                           \
    static type(*next) parameters;                                 \
    if (next == NULL) next = dlsym(RTLD_NEXT, #name);              \
    return failing ? failed : next arguments;                      \
  }
#define OF_FILE(type, kind, name, parameters, arguments) BEFORE(type, name, parameters, arguments, fails_open(kind, fd), -1)
#define OF_PATH(type, kind, name, parameters, arguments) BEFORE(type, name, parameters, arguments, fails(kind, path), -1)

OF_FILE(ssize_t, READ, read, (int fd, void *bytes, size_t size), (fd, bytes, size))
OF_FILE(ssize_t, READ, pread, (int fd, void *bytes, size_t size, off_t at), (fd, bytes, size, at))
OF_FILE(ssize_t, READ, pread64, (int fd, void *bytes, size_t size, off64_t at), (fd, bytes, size, at))
OF_FILE(ssize_t, READ, preadv64, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))
OF_FILE(ssize_t, WRITE, write, (int fd, const void *bytes, size_t size), (fd, bytes, size))
OF_FILE(ssize_t, WRITE, pwrite, (int fd, const void *bytes, size_t size, off_t at), (fd, bytes, size, at))
OF_FILE(ssize_t, WRITE, pwrite64, (int fd, const void *bytes, size_t size, off64_t at), (fd, bytes, size, at))
OF_FILE(ssize_t, WRITE, pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))
OF_FILE(int, FSYNC, fsync, (int fd), (fd))
OF_FILE(int, FSYNC, fdatasync, (int fd), (fd))
OF_FILE(int, FTRUNCATE, ftruncate, (int fd, off_t size), (fd, size))
OF_FILE(int, FTRUNCATE, ftruncate64, (int fd, off64_t size), (fd, size))
OF_PATH(int, MKDIR, mkdir, (const char *path, mode_t mode), (path, mode))
OF_PATH(int, UNLINK, unlink, (const char *path), (path))
OF_PATH(int, RENAME, rename, (const char *path, const char *to), (path, to))
BEFORE(DIR *, opendir, (const char *path), (path), fails(LIST, path), NULL)

typedef int (*filter)(const struct dirent *);
typedef int (*order)(const struct dirent **, const struct dirent **);
OF_PATH(int, LIST, scandir, (const char *path, struct dirent ***list, filter keep, order sort), (path, list, keep, sort))
typedef int (*filter64)(const struct dirent64 *);
typedef int (*order64)(const struct dirent64 **, const struct dirent64 **);
OF_PATH(int, LIST, scandir64, (const char *path, struct dirent64 ***list, filter64 keep, order64 sort), (path, list, keep, sort))

#define OPENING(name)                                          \
  int name(const char *path, int flags, ...) {                 \
    static int (*next)(const char *, int, ...);                \
    if (next == NULL) next = dlsym(RTLD_NEXT, #name);          \
    va_list rest;                                              \
    va_start(rest, flags);                                     \
    int mode = va_arg(rest, int);                              \
    va_end(rest);                                              \
    return fails(OPEN, path) ? -1 : next(path, flags, mode);   \
  }
OPENING(open)
OPENING(open64)
