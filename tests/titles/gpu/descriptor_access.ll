; Ways to use a V# or T# that clang has no builtins for; pal_entry.py appends those that a kernel declares.
define internal ptr addrspace(8) @descriptor_at(ptr addrspace(1) %table, i32 %index) alwaysinline {
  %a = ptrtoint ptr addrspace(1) %table to i64
  %t = inttoptr i64 %a to ptr addrspace(4)
  %p = getelementptr inbounds <4 x i32>, ptr addrspace(4) %t, i32 %index
  %v = load <4 x i32>, ptr addrspace(4) %p, align 16, !invariant.load !4242
  %i = bitcast <4 x i32> %v to i128
  %d = inttoptr i128 %i to ptr addrspace(8)
  ret ptr addrspace(8) %d
}

define internal <8 x i32> @image_at(ptr addrspace(1) %table, i32 %index) alwaysinline {
  %a = ptrtoint ptr addrspace(1) %table to i64
  %t = inttoptr i64 %a to ptr addrspace(4)
  %p = getelementptr inbounds <8 x i32>, ptr addrspace(4) %t, i32 %index
  %v = load <8 x i32>, ptr addrspace(4) %p, align 16, !invariant.load !4242
  ret <8 x i32> %v
}

define internal i32 @load_constant(ptr addrspace(8) %b, i32 %offset) alwaysinline {
  %i = ptrtoint ptr addrspace(8) %b to i128
  %v = bitcast i128 %i to <4 x i32>
  %r = call i32 @llvm.amdgcn.s.buffer.load.i32(<4 x i32> %v, i32 %offset, i32 0)
  ret i32 %r
}

define internal <4 x float> @load_record(ptr addrspace(8) %b, i32 %index) alwaysinline {
  %r = call <4 x float> @llvm.amdgcn.struct.ptr.buffer.load.v4f32(ptr addrspace(8) %b, i32 %index, i32 0, i32 0, i32 0)
  ret <4 x float> %r
}

define internal void @store_record(<4 x float> %value, ptr addrspace(8) %b, i32 %index) alwaysinline {
  call void @llvm.amdgcn.struct.ptr.buffer.store.v4f32(<4 x float> %value, ptr addrspace(8) %b, i32 %index, i32 0, i32 0, i32 0)
  ret void
}

define internal <4 x float> @load_typed(ptr addrspace(8) %b, i32 %index) alwaysinline {
  %r = call <4 x float> @llvm.amdgcn.struct.ptr.buffer.load.format.v4f32(ptr addrspace(8) %b, i32 %index, i32 0, i32 0, i32 0)
  ret <4 x float> %r
}

define internal <4 x float> @load_image(<8 x i32> %t, i32 %x, i32 %y) alwaysinline {
  %r = call <4 x float> @llvm.amdgcn.image.load.2d.v4f32.i32(i32 15, i32 %x, i32 %y, <8 x i32> %t, i32 0, i32 0)
  ret <4 x float> %r
}

define internal void @store_image(float %value, <8 x i32> %t, i32 %x, i32 %y) alwaysinline {
  call void @llvm.amdgcn.image.store.2d.f32.i32(float %value, i32 1, i32 %x, i32 %y, <8 x i32> %t, i32 0, i32 0)
  ret void
}

define internal <4 x float> @sample_image(<8 x i32> %t, <4 x i32> %s, float %x, float %y) alwaysinline {
  %r = call <4 x float> @llvm.amdgcn.image.sample.lz.2d.v4f32.f32(i32 15, float %x, float %y, <8 x i32> %t, <4 x i32> %s, i1 false, i32 0, i32 0)
  ret <4 x float> %r
}

define internal <4 x float> @gather_image(<8 x i32> %t, <4 x i32> %s, float %x, float %y) alwaysinline {
  %r = call <4 x float> @llvm.amdgcn.image.gather4.lz.2d.v4f32.f32(i32 2, float %x, float %y, <8 x i32> %t, <4 x i32> %s, i1 false, i32 0, i32 0)
  ret <4 x float> %r
}

declare <4 x float> @llvm.amdgcn.image.sample.lz.2d.v4f32.f32(i32 immarg, float, float, <8 x i32>, <4 x i32>, i1 immarg, i32 immarg, i32 immarg)
declare <4 x float> @llvm.amdgcn.image.gather4.lz.2d.v4f32.f32(i32 immarg, float, float, <8 x i32>, <4 x i32>, i1 immarg, i32 immarg, i32 immarg)
declare <4 x float> @llvm.amdgcn.image.load.2d.v4f32.i32(i32 immarg, i32, i32, <8 x i32>, i32 immarg, i32 immarg)
declare void @llvm.amdgcn.image.store.2d.f32.i32(float, i32 immarg, i32, i32, <8 x i32>, i32 immarg, i32 immarg)
declare i32 @llvm.amdgcn.s.buffer.load.i32(<4 x i32>, i32, i32 immarg)
declare <4 x float> @llvm.amdgcn.struct.ptr.buffer.load.v4f32(ptr addrspace(8), i32, i32, i32, i32 immarg)
declare void @llvm.amdgcn.struct.ptr.buffer.store.v4f32(<4 x float>, ptr addrspace(8), i32, i32, i32, i32 immarg)
declare <4 x float> @llvm.amdgcn.struct.ptr.buffer.load.format.v4f32(ptr addrspace(8), i32, i32, i32, i32 immarg)
!4242 = !{}
