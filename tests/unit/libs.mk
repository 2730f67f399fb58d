# SPDX-License-Identifier: BSD-2-Clause
# Libraries that single tests need beyond cmocka.
LIBS_test_decode := -lZydis -lZycore
