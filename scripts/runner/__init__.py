# SPDX-License-Identifier: BSD-2-Clause
"""What scripts/run, scripts/esp, scripts/bench-boot and tests/boot/run share: one module a concept."""
