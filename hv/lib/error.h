/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors of the hypervisor proper: an enum and its names. Functions that can fail return enum error
 * (marked __must_check) and give their result through a pointer; the caller that reports it says
 * what, where and what to do.
 */
#ifndef HV_LIB_ERROR_H
#define HV_LIB_ERROR_H

#define ERROR_TABLE(X)                      \
	X(OK, "success")                    \
	X(NO_MEMORY, "out of memory")       \
	X(INVALID, "invalid value")         \
	X(RANGE, "outside the valid range") \
	X(CONFLICT, "already in use")       \
	X(NOT_FOUND, "not found")           \
	X(TRUNCATED, "file is truncated")   \
	X(FORMAT, "not in a known format")  \
	X(UNSUPPORTED, "not supported")     \
	X(HARDWARE, "the processor refused the operation")

enum error {
#define ERROR_ENUM(name, text) ERR_##name,
	ERROR_TABLE(ERROR_ENUM)
#undef ERROR_ENUM
};

/* A lower-case phrase for a message; never NULL. */
const char *error_text(enum error error);

#endif
