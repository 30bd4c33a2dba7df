# orrery_gpu_kernel(NAME n SOURCE x.cl WAVE 32|64 OUTPUT folder [GROUP_SIZE x,y,z] [SGPRS "pointer u32 ..."] [STANDARD CL2.0]
#                   [OPTIONS ...] [C] [CORPUS])
# Compiles one kernel for gfx1013. Linked with the OpenCL library (libclc), except with SGPRS, which makes an amdgpu_cs entry whose arguments are
# user SGPRs. Outputs in the folder: n.wWAVE.co, with C n.wWAVE.c (to link into a title) and n.cpu.c, with CORPUS n.wWAVE.{bin,image,json}.
# The list ORRERY_GPU_KERNEL_OUTPUTS of the caller grows by what was made.
include_guard()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_program(ORRERY_CLANG NAMES clang-19 REQUIRED)
find_program(ORRERY_LLD NAMES ld.lld-19 REQUIRED)
find_file(ORRERY_LIBCLC NAMES amdgcn--amdhsa.bc REQUIRED PATHS /usr/lib/clc /usr/share/clc)
set(ORRERY_GPU_DIR ${CMAKE_CURRENT_LIST_DIR})

function(orrery_gpu_kernel)
  cmake_parse_arguments(K "C;CORPUS" "NAME;SOURCE;WAVE;OUTPUT;GROUP_SIZE;SGPRS;STANDARD" "OPTIONS" ${ARGN})
  if(NOT K_STANDARD)
    set(K_STANDARD CL1.2)
  endif()
  if(NOT K_GROUP_SIZE)
    set(K_GROUP_SIZE 64,1,1)
  endif()
  set(base ${K_OUTPUT}/${K_NAME}.w${K_WAVE})
  set(flags -mcpu=gfx1013:xnack- -nogpulib -O2 -ffp-contract=off -Wno-linker-warnings)
  if(K_WAVE EQUAL 64)
    list(APPEND flags -mwavefrontsize64)
  endif()
  set(language -x cl -cl-std=${K_STANDARD} -Xclang -finclude-default-header -include ${ORRERY_GPU_DIR}/kernel_ids.h)
  set(embed ${Python3_EXECUTABLE} ${ORRERY_GPU_DIR}/embed_kernel.py ${base}.co ${K_NAME} --wave ${K_WAVE} --group-size ${K_GROUP_SIZE})
  if(DEFINED K_SGPRS)
    list(APPEND flags -target amdgcn-amd-amdpal)
    list(APPEND embed --sgprs ${K_SGPRS})
    set(compile
      COMMAND ${ORRERY_CLANG} ${language} ${flags} ${K_OPTIONS} -DORRERY_SGPR_ARGUMENTS -MD -MF ${base}.d -MT ${base}.co
              -S -emit-llvm ${K_SOURCE} -o ${base}.body.ll
      COMMAND ${Python3_EXECUTABLE} ${ORRERY_GPU_DIR}/pal_entry.py ${base}.body.ll ${K_NAME} ${K_SGPRS} ${K_GROUP_SIZE} > ${base}.ll
      COMMAND ${ORRERY_CLANG} -x ir ${flags} -c ${base}.ll -o ${base}.o)
  else()
    list(APPEND flags -target amdgcn-amd-amdhsa)
    list(APPEND language -Xclang -mlink-builtin-bitcode -Xclang ${ORRERY_LIBCLC})
    set(compile COMMAND ${ORRERY_CLANG} ${language} ${flags} ${K_OPTIONS} -MD -MF ${base}.d -MT ${base}.co -c ${K_SOURCE} -o ${base}.o)
  endif()
  set(outputs ${base}.co)
  if(K_C)
    list(APPEND embed --c ${base}.c)
    list(APPEND outputs ${base}.c)
    if(K_WAVE EQUAL 32)
      list(APPEND embed --cpu ${K_OUTPUT}/${K_NAME}.cpu.c)
      list(APPEND outputs ${K_OUTPUT}/${K_NAME}.cpu.c)
    endif()
  endif()
  if(K_CORPUS)
    list(APPEND embed --corpus ${base})
    list(APPEND outputs ${base}.bin ${base}.image ${base}.json)
  endif()
  file(MAKE_DIRECTORY ${K_OUTPUT})
  add_custom_command(OUTPUT ${outputs} ${compile}
    COMMAND ${ORRERY_LLD} -shared -z max-page-size=256 ${base}.o -o ${base}.co
    COMMAND ${embed}
    DEPENDS ${K_SOURCE} ${ORRERY_GPU_DIR}/kernel_ids.h ${ORRERY_GPU_DIR}/code_object.py ${ORRERY_GPU_DIR}/pal_entry.py
            ${ORRERY_GPU_DIR}/embed_kernel.py ${ORRERY_GPU_DIR}/descriptor_access.ll
    DEPFILE ${base}.d
    COMMENT "gfx1013 kernel ${K_NAME}, wave${K_WAVE}" VERBATIM)
  set(ORRERY_GPU_KERNEL_OUTPUTS ${ORRERY_GPU_KERNEL_OUTPUTS} ${outputs} PARENT_SCOPE)
endfunction()

# orrery_cpu_kernel(OUT SOURCE x.cl [STANDARD CL2.0] ...): the same source as an object file for the console's CPU.
# Other words of orrery_gpu_kernel are accepted and ignored.
function(orrery_cpu_kernel out)
  cmake_parse_arguments(K "" "SOURCE;STANDARD;OUTPUT" "DEPENDS" ${ARGN})
  if(NOT K_STANDARD)
    set(K_STANDARD CL1.2)
  endif()
  get_filename_component(stem ${K_SOURCE} NAME_WE)
  set(object ${K_OUTPUT}/${stem}.cpu.o)
  file(MAKE_DIRECTORY ${K_OUTPUT})
  add_custom_command(OUTPUT ${object}
    COMMAND ${ORRERY_CLANG} -x cl -cl-std=${K_STANDARD} -Xclang -finclude-default-header -include ${ORRERY_GPU_DIR}/kernel_ids.h
            --target=x86_64-sie-ps5 -ffreestanding -fPIC -O2 -g1 -ffp-contract=off -fno-stack-protector
            -fasynchronous-unwind-tables -MMD -MF ${object}.d -c ${K_SOURCE} -o ${object}
    DEPENDS ${K_SOURCE} DEPFILE ${object}.d
    COMMENT "Compiling ${stem} for the console's CPU" VERBATIM)
  set(${out} ${object} PARENT_SCOPE)
endfunction()
