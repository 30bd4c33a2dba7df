// Linkage of everything that the console provides.
#pragma once
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
#define SCE_BEGIN extern "C" {
#define SCE_END }
#else
#define SCE_BEGIN
#define SCE_END
#endif
