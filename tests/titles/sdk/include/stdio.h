// Printing functions of libSceLibcInternal.
#pragma once
#include <stdarg.h>
#include "sce_export.h"
SCE_BEGIN
int printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
int vprintf(const char* format, va_list arguments);
int snprintf(char* to, size_t size, const char* format, ...) __attribute__((format(printf, 3, 4)));
int vsnprintf(char* to, size_t size, const char* format, va_list arguments);
int sprintf(char* to, const char* format, ...) __attribute__((format(printf, 2, 3)));
int puts(const char* line);
int putchar(int c);
SCE_END
