// Threads of libkernel.
#pragma once
#include "sce_export.h"
SCE_BEGIN
typedef void* ScePthread;
typedef void* ScePthreadAttr;
typedef void* ScePthreadMutex;
typedef void* ScePthreadMutexattr;
typedef void* ScePthreadCond;
typedef void* ScePthreadCondattr;
int scePthreadCreate(ScePthread* thread, const ScePthreadAttr* attributes, void* (*entry)(void*), void* argument,
                     const char* name);
int scePthreadJoin(ScePthread thread, void** result);
int scePthreadDetach(ScePthread thread);
void scePthreadExit(void* result) __attribute__((noreturn));
ScePthread scePthreadSelf(void);
void scePthreadYield(void);
int scePthreadMutexInit(ScePthreadMutex* mutex, const ScePthreadMutexattr* attributes, const char* name);
int scePthreadMutexDestroy(ScePthreadMutex* mutex);
int scePthreadMutexLock(ScePthreadMutex* mutex);
int scePthreadMutexTrylock(ScePthreadMutex* mutex);
int scePthreadMutexUnlock(ScePthreadMutex* mutex);
int scePthreadCondInit(ScePthreadCond* cond, const ScePthreadCondattr* attributes, const char* name);
int scePthreadCondDestroy(ScePthreadCond* cond);
int scePthreadCondWait(ScePthreadCond* cond, ScePthreadMutex* mutex);
int scePthreadCondTimedwait(ScePthreadCond* cond, ScePthreadMutex* mutex, uint32_t timeout_us);
int scePthreadCondSignal(ScePthreadCond* cond);
int scePthreadCondBroadcast(ScePthreadCond* cond);
SCE_END
