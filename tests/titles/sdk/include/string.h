// String and memory functions of libSceLibcInternal.
#pragma once
#include "sce_export.h"
SCE_BEGIN
void* memcpy(void* to, const void* from, size_t size);
void* memmove(void* to, const void* from, size_t size);
void* memset(void* to, int value, size_t size);
int memcmp(const void* a, const void* b, size_t size);
void* memchr(const void* in, int value, size_t size);
size_t strlen(const char* s);
size_t strnlen(const char* s, size_t limit);
int strcmp(const char* a, const char* b);
int strncmp(const char* a, const char* b, size_t limit);
int strcasecmp(const char* a, const char* b);
char* strcpy(char* to, const char* from);
char* strncpy(char* to, const char* from, size_t limit);
char* strcat(char* to, const char* from);
char* strncat(char* to, const char* from, size_t limit);
char* strchr(const char* s, int c);
char* strrchr(const char* s, int c);
char* strstr(const char* in, const char* what);
char* strdup(const char* s);
SCE_END
