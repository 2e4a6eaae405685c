/* Fails system calls at random, as a system does that is out of memory, descriptors, disk or network. Preloaded into a
 * program (LD_PRELOAD); what it does stands in a file that the test shares, TIDEGATE_FAULTS.
 *
 * Only errors that the kernel itself may give for that call, on that kind of descriptor: pipes and event descriptors, by which a
 * program wakes itself, do not fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static struct shared {
	/* One call of that many fails; 0: none. */
	_Atomic uint32_t once_in;
	_Atomic uint32_t failed;
	_Atomic uint64_t state;
} *shared;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("TIDEGATE_FAULTS");
	int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (file < 0)
		return;
	void *memory = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	shared = memory == MAP_FAILED ? NULL : memory;
}

/* SplitMix64 over a shared counter: what a seed gives does not depend on how many threads there are, only on their order. */
static uint32_t draw(void)
{
	uint64_t z = atomic_fetch_add(&shared->state, 0x9e3779b97f4a7c15) + 0x9e3779b97f4a7c15;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (uint32_t)(z >> 32);
}

/* Whether this call fails, by one of those errors. */
static int fails(const int *errors, uint32_t count)
{
	uint32_t once_in = shared ? atomic_load(&shared->once_in) : 0;
	if (!once_in || draw() % once_in)
		return 0;
	atomic_fetch_add(&shared->failed, 1);
	errno = errors[draw() % count];
	return 1;
}

#define FAILS(...) \
	fails((const int[]){ __VA_ARGS__ }, sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int))

#define REAL(name) \
	static __typeof__(name) *real; \
	if (!real) \
		real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* A socket of the network or of the kernel. */
static int is_network(int fd)
{
	struct sockaddr_storage name;
	socklen_t length = sizeof(name);
	int before = errno;
	int known = getsockname(fd, (struct sockaddr *)&name, &length) == 0;
	errno = before;
	return known && (name.ss_family == AF_INET || name.ss_family == AF_INET6 || name.ss_family == AF_NETLINK);
}

static int is_file(int fd)
{
	struct stat about;
	int before = errno;
	int known = fstat(fd, &about) == 0;
	errno = before;
	return known && S_ISREG(about.st_mode);
}

static int sending_fails(int fd)
{
	return is_network(fd) && FAILS(ENOBUFS, ENOMEM, ENETDOWN, ENETUNREACH, EHOSTUNREACH, EINVAL, EPERM);
}

static int receiving_fails(int fd)
{
	return is_network(fd) && FAILS(ENOBUFS, ENOMEM, ENETDOWN, ECONNREFUSED, EHOSTUNREACH, EINTR);
}

static int writing_fails(int fd)
{
	return is_file(fd) ? FAILS(ENOSPC, EDQUOT, EIO) : sending_fails(fd);
}

static int opening_fails(void)
{
	return FAILS(EMFILE, ENFILE, ENOMEM, ENOSPC);
}

#define SIMPLE(type, name, parameters, arguments, condition) \
	type name parameters \
	{ \
		REAL(name); \
		return (condition) ? -1 : real arguments; \
	}

SIMPLE(int, socket, (int domain, int type, int protocol), (domain, type, protocol),
       FAILS(EMFILE, ENFILE, ENOBUFS, ENOMEM))
SIMPLE(int, accept, (int fd, struct sockaddr *from, socklen_t *length), (fd, from, length),
       FAILS(EMFILE, ENFILE, ENOBUFS, ENOMEM, ECONNABORTED, ENETDOWN))
SIMPLE(int, accept4, (int fd, struct sockaddr *from, socklen_t *length, int flags), (fd, from, length, flags),
       FAILS(EMFILE, ENFILE, ENOBUFS, ENOMEM, ECONNABORTED, ENETDOWN))
SIMPLE(ssize_t, send, (int fd, const void *data, size_t length, int flags), (fd, data, length, flags),
       sending_fails(fd))
SIMPLE(ssize_t, sendto,
       (int fd, const void *data, size_t length, int flags, const struct sockaddr *to, socklen_t size),
       (fd, data, length, flags, to, size), sending_fails(fd))
SIMPLE(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags), sending_fails(fd))
SIMPLE(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags), (fd, messages, count, flags),
       sending_fails(fd))
SIMPLE(ssize_t, recv, (int fd, void *data, size_t length, int flags), (fd, data, length, flags), receiving_fails(fd))
SIMPLE(ssize_t, recvfrom,
       (int fd, void *data, size_t length, int flags, struct sockaddr *from, socklen_t *size),
       (fd, data, length, flags, from, size), receiving_fails(fd))
SIMPLE(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags), receiving_fails(fd))
SIMPLE(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout),
       (fd, messages, count, flags, timeout), receiving_fails(fd))
SIMPLE(ssize_t, read, (int fd, void *data, size_t length), (fd, data, length),
       is_file(fd) ? FAILS(EIO, ENOMEM) : receiving_fails(fd))
SIMPLE(ssize_t, write, (int fd, const void *data, size_t length), (fd, data, length), writing_fails(fd))
SIMPLE(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count), writing_fails(fd))
SIMPLE(int, poll, (struct pollfd *fds, nfds_t count, int timeout), (fds, count, timeout), FAILS(ENOMEM, EINTR))
SIMPLE(int, epoll_ctl, (int set, int what, int fd, struct epoll_event *event), (set, what, fd, event),
       what == EPOLL_CTL_ADD && FAILS(ENOMEM, ENOSPC))
SIMPLE(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t length),
       (fd, level, name, value, length), FAILS(ENOMEM, ENOBUFS, EINVAL))
SIMPLE(int, ftruncate64, (int fd, off64_t length), (fd, length), FAILS(ENOSPC, EIO))
SIMPLE(int, fsync, (int fd), (fd), FAILS(ENOSPC, EIO))
SIMPLE(int, fdatasync, (int fd), (fd), FAILS(ENOSPC, EIO))
SIMPLE(int, rename, (const char *from, const char *to), (from, to), FAILS(ENOSPC, EIO))

static mode_t mode_of(int flags, va_list more)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
}

#define OPENS(name) \
	int name(const char *path, int flags, ...) \
	{ \
		REAL(name); \
		va_list more; \
		va_start(more, flags); \
		mode_t mode = mode_of(flags, more); \
		va_end(more); \
		return opening_fails() ? -1 : real(path, flags, mode); \
	}

OPENS(open64)

/* Of its commands those that make a descriptor. */
int fcntl64(int fd, int command, ...)
{
	REAL(fcntl64);
	va_list more;
	va_start(more, command);
	void *argument = va_arg(more, void *);
	va_end(more);
	if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && FAILS(EMFILE))
		return -1;
	return real(fd, command, argument);
}

int fcntl(int fd, int command, ...)
{
	va_list more;
	va_start(more, command);
	void *argument = va_arg(more, void *);
	va_end(more);
	return fcntl64(fd, command, argument);
}

/* Its error is what it returns. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	REAL(pthread_create);
	return FAILS(EAGAIN) ? EAGAIN : real(thread, attributes, run, argument);
}
