// Mathematical functions of libSceLibcInternal.
#pragma once
#include "sce_export.h"
SCE_BEGIN
float sinf(float x);
float cosf(float x);
float tanf(float x);
float asinf(float x);
float acosf(float x);
float atanf(float x);
float atan2f(float y, float x);
float expf(float x);
float exp2f(float x);
float logf(float x);
float log2f(float x);
float log10f(float x);
float powf(float x, float y);
float fmodf(float x, float y);
float floorf(float x);
float ceilf(float x);
float truncf(float x);
float roundf(float x);
float sqrtf(float x);
float fabsf(float x);
float fmaf(float x, float y, float z);
double sin(double x);
double cos(double x);
double tan(double x);
double atan(double x);
double atan2(double y, double x);
double exp(double x);
double exp2(double x);
double log(double x);
double log2(double x);
double pow(double x, double y);
double fmod(double x, double y);
double floor(double x);
double ceil(double x);
double sqrt(double x);
double fabs(double x);
double fma(double x, double y, double z);
SCE_END
#define M_PI 3.14159265358979323846
