/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The 8254 interval timer with port 0x61 (Intel 8254 data sheet): channel 0 on interrupt line 0,
 * channel 2 gated by port 0x61 with its output in bit 5 there. Channel 1 counts and drives nothing.
 */
#ifndef HV_DEV_PIT_H
#define HV_DEV_PIT_H

#include "hv/dev/timer.h"
#include "hv/lib/types.h"

struct platform;

struct pit_channel {
	u8 mode;   /* 0..5 */
	u8 access; /* 1 low byte, 2 high byte, 3 low then high */
	bool bcd;
	bool gate;
	bool loaded;   /* a count was written since the control word */
	bool counting; /* and is in use (modes 1 and 5: from the trigger on) */
	bool stopped;  /* by the gate (modes 0, 2, 3, 4) */
	/* Until the clock that loads the count: the output, "null count", and the old count. */
	bool out_before_start, null_before_start;
	u32 count_before_start;
	u32 reload;	   /* the count in use, 1..65536 */
	u32 pending;	   /* a count written that waits for the end of the cycle; 0: none */
	u64 pending_tick;  /* when it comes into use: never in modes 1 and 5, only by trigger */
	u64 pending_start; /* `start` from then on */
	u64 start;	   /* tick at which the current count began */
	u64 held;	   /* while stopped: ticks counted so far */
	bool write_high_next, read_high_next; /* access 3: which byte comes */
	u8 low;				      /* access 3: the low byte written */
	u8 latched_bytes;		      /* of the latched count that are still to be read */
	u16 latch;
	bool status_latched;
	u8 status;
};

struct pit {
	struct pit_channel channels[3];
	u8 port61;	    /* bits 0..3 as written */
	struct timer timer; /* the next rising edge of channel 0's output */
};

void pit_init(struct platform *platform);
void pit_reset(struct platform *platform);
/* Ports 0x40..0x43 and 0x61, one byte at a time. */
u32 pit_read(struct platform *platform, u16 port, u32 size);
void pit_write(struct platform *platform, u16 port, u32 size, u32 value);

#endif
