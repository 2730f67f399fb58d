// SPDX-License-Identifier: BSD-2-Clause
/*
 * The first program of the benchmark's Linux (rdinit=/sbin/bench-init): tells the time stamp
 * counter at which the kernel's boot was over and switches the machine off. Run as process 1;
 * freestanding, so that nothing of a C library is counted.
 */
#include <linux/reboot.h>
#include <sys/syscall.h>

/* Bochs ends, and Torpor ends the VM, when this is written to the port byte by byte. */
#define SHUTDOWN_PORT 0x8900
#define SHUTDOWN_TEXT "Shutdown"

static long syscall3(long number, long a, long b, long c)
{
	long result;

	asm volatile("syscall"
		     : "=a"(result)
		     : "0"(number), "D"(a), "S"(b), "d"(c)
		     : "rcx", "r11", "memory");
	return result;
}

static unsigned long read_tsc(void)
{
	unsigned int low, high;

	asm volatile("rdtsc" : "=a"(low), "=d"(high));
	return (unsigned long)high << 32 | low;
}

static char *put_text(char *to, const char *text)
{
	while (*text)
		*to++ = *text++;
	return to;
}

static char *put_number(char *to, unsigned long value)
{
	if (value >= 10)
		to = put_number(to, value / 10);
	*to++ = (char)('0' + value % 10);
	return to;
}

static void switch_off(void)
{
	syscall3(SYS_iopl, 3, 0, 0);
	for (const char *text = SHUTDOWN_TEXT; *text; text++)
		asm volatile("outb %0, %w1" : : "a"(*text), "Nd"(SHUTDOWN_PORT));
	asm volatile("" : : : "memory");
	for (;;) {
		register long argument asm("r10") = 0;
		long result;

		asm volatile("syscall"
			     : "=a"(result)
			     : "0"((long)SYS_reboot), "D"(LINUX_REBOOT_MAGIC1),
			     "S"(LINUX_REBOOT_MAGIC2), "d"(LINUX_REBOOT_CMD_POWER_OFF),
			     "r"(argument)
			     : "rcx", "r11", "memory");
	}
}

__attribute__((noreturn, used)) void _start(void)
{
	char line[64];
	char *end = put_number(put_text(line, "torpor-bench init tsc="), read_tsc());

	*end++ = '\n';
	syscall3(SYS_write, 1, (long)line, end - line);
	/* The console's bytes leave the machine at the UART's pace: wait for the last of them. */
	syscall3(SYS_fsync, 1, 0, 0);
	for (unsigned long until = read_tsc() + 50000000; read_tsc() < until;)
		;
	switch_off();
	__builtin_unreachable();
}
