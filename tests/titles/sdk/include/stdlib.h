// General functions of libSceLibcInternal.
#pragma once
#include "sce_export.h"
SCE_BEGIN
void* malloc(size_t size);
void* calloc(size_t count, size_t size);
void* realloc(void* old, size_t size);
void free(void* memory);
void* memalign(size_t alignment, size_t size);
void exit(int code) __attribute__((noreturn));
void _exit(int code) __attribute__((noreturn));
void abort(void) __attribute__((noreturn));
int atexit(void (*function)(void));
int atoi(const char* text);
long strtol(const char* text, char** end, int base);
unsigned long strtoul(const char* text, char** end, int base);
double strtod(const char* text, char** end);
void qsort(void* base, size_t count, size_t size, int (*compare)(const void*, const void*));
SCE_END
