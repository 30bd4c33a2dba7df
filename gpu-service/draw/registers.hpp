// Dword indices of the registers that a draw reads (AMD's public gc_10_3_0 headers).
#pragma once

#include <cstdint>

namespace orrery::draw::reg {

// SH: program address (2), RSRC1, RSRC2, then user data.
inline constexpr uint32_t kPixelProgram = 0x2C08, kGeometryProgram = 0x2C88, kExportProgram = 0x2CC8;
inline constexpr uint32_t kRsrc1 = 2, kRsrc2 = 3, kUserData = 4;  // behind a program's first register

// Context.
inline constexpr uint32_t kDbDepthSizeXy = 0xA007, kPaScScreenScissorTl = 0xA00C, kDbZInfo = 0xA010;
inline constexpr uint32_t kDbZReadBase = 0xA012, kDbZReadBaseHi = 0xA01A;
inline constexpr uint32_t kPaScWindowOffset = 0xA080, kPaScWindowScissorTl = 0xA081, kCbTargetMask = 0xA08E;
inline constexpr uint32_t kCbShaderMask = 0xA08F, kPaScGenericScissorTl = 0xA090, kPaScVportScissor0Tl = 0xA094;
inline constexpr uint32_t kPaScVportZmin0 = 0xA0B4, kPaClVportXscale = 0xA10F, kSpiPsInputCntl0 = 0xA191;
inline constexpr uint32_t kSpiVsOutConfig = 0xA1B1, kSpiPsInputEna = 0xA1B3, kSpiPsInputAddr = 0xA1B4;
inline constexpr uint32_t kSpiPsInControl = 0xA1B6, kSpiShaderPosFormat = 0xA1C3, kSpiShaderColFormat = 0xA1C5;
inline constexpr uint32_t kCbBlend0Control = 0xA1E0, kDbDepthControl = 0xA200, kCbColorControl = 0xA202;
inline constexpr uint32_t kDbShaderControl = 0xA203, kPaClClipCntl = 0xA204, kPaSuScModeCntl = 0xA205;
inline constexpr uint32_t kPaClVteCntl = 0xA206, kPaClVsOutCntl = 0xA207, kPaSuPointSize = 0xA280;
inline constexpr uint32_t kPaSuLineCntl = 0xA282, kPaScModeCntl0 = 0xA292, kVgtGsOutPrimType = 0xA29B;
inline constexpr uint32_t kVgtShaderStagesEn = 0xA2D5, kPaScAaConfig = 0xA2F8, kPaSuVtxCntl = 0xA2F9;
inline constexpr uint32_t kCbColor0Base = 0xA318, kCbColor0View = 0xA31B, kCbColor0Info = 0xA31C;
inline constexpr uint32_t kCbColor0Attrib = 0xA31D, kCbColor0BaseExt = 0xA390, kCbColor0Attrib2 = 0xA3B0;
inline constexpr uint32_t kCbColor0Attrib3 = 0xA3B8;

// Uconfig.
inline constexpr uint32_t kVgtPrimitiveType = 0xC242, kVgtIndexType = 0xC243, kGeCntl = 0xC25B;

}  // namespace orrery::draw::reg
