/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The types everything else is written in. Addresses of different spaces are different struct
 * types, so that a guest-physical address cannot be used where a host-physical one is meant.
 */
#ifndef HV_LIB_TYPES_H
#define HV_LIB_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

/* Guest-physical, host-physical and guest-linear addresses. */
typedef struct {
	u64 value;
} gpa_t;
typedef struct {
	u64 value;
} hpa_t;
typedef struct {
	u64 value;
} gva_t;

static inline gpa_t gpa(u64 value)
{
	return (gpa_t){ value };
}

static inline hpa_t hpa(u64 value)
{
	return (hpa_t){ value };
}

static inline gva_t gva(u64 value)
{
	return (gva_t){ value };
}

#define PAGE_SHIFT 12
#define PAGE_SIZE  4096ul
#define PAGE_MASK  (PAGE_SIZE - 1)
#define SIZE_2M	   (2ul << 20)
#define SIZE_1G	   (1ul << 30)
#define SIZE_4G	   (4ul << 30)

#define BIT(n)			 (1ul << (n))
#define ARRAY_SIZE(a)		 (sizeof(a) / sizeof((a)[0]))
/* MIN and MAX evaluate their arguments twice: give them values, not calls. */
#define MIN(a, b)		 ((a) < (b) ? (a) : (b))
#define MAX(a, b)		 ((a) > (b) ? (a) : (b))
#define ALIGN_DOWN(x, a)	 ((x) & ~((u64)(a)-1))
#define ALIGN_UP(x, a)		 ALIGN_DOWN((x) + (u64)(a)-1, a)
#define IS_ALIGNED(x, a)	 (((x) & ((u64)(a)-1)) == 0)
#define likely(x)		 __builtin_expect(!!(x), 1)
#define unlikely(x)		 __builtin_expect(!!(x), 0)
#define __packed		 __attribute__((packed))
#define __aligned(n)		 __attribute__((aligned(n)))
#define __noreturn		 __attribute__((noreturn))
#define __must_check		 __attribute__((warn_unused_result))
#define __printf_like(fmt, args) __attribute__((format(printf, fmt, args)))

#endif
