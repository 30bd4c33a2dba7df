// libSceUserService.
#pragma once
#include "sce_export.h"
SCE_BEGIN
typedef struct SceUserServiceLoginUserIdList {
  int user[4];
} SceUserServiceLoginUserIdList;
int sceUserServiceInitialize(const void* parameters);
int sceUserServiceGetInitialUser(int* user);
int sceUserServiceGetForegroundUser(int* user);
int sceUserServiceGetLoginUserIdList(SceUserServiceLoginUserIdList* list);
SCE_END
