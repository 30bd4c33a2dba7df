# orrery_title(NAME SOURCES a.c ... [DESCRIPTION text] [ARGUMENTS text] [INCLUDES dir ...] [OPTIONS flag ...]
#              [OBJECTS file.o ...] [DEPENDS target-or-file ...] [IMPORTS list ...] [FORM current|previous|plain] [SELF] [HIDDEN])
# Builds <build>/titles/NAME/eboot.bin (the console's form) and title.json. C, C++ and assembler (.S) sources are compiled
# for the console; OBJECTS are linked as they are. IMPORTS are further lists in the form of sdk/imports.txt. NAME.elf beside the build files keeps the symbols. Titles that exist
# only for tests are HIDDEN: they go to <build>/test-titles.
find_program(ORRERY_CLANG NAMES clang-19 REQUIRED)
find_program(ORRERY_LLD NAMES ld.lld-19 REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(ORRERY_SDK ${CMAKE_CURRENT_LIST_DIR})

function(orrery_title_object out source)
  cmake_parse_arguments(O "" "TITLE" "INCLUDES;OPTIONS;DEPENDS" ${ARGN})
  get_filename_component(absolute ${source} ABSOLUTE)
  get_filename_component(stem ${source} NAME)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${O_TITLE}.dir/${stem}.o)
  set(flags --target=x86_64-sie-ps5 -ffreestanding -nostdlibinc -fPIC -O2 -g1 -fasynchronous-unwind-tables
            -fno-omit-frame-pointer -fvisibility=hidden -Wall -Wextra -Werror -Wno-unused-command-line-argument
            -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
  if(stem MATCHES "\\.(cpp|cc)$")
    list(APPEND flags -std=c++20 -fno-exceptions -fno-rtti)
  elseif(stem MATCHES "\\.c$")
    list(APPEND flags -std=c17)
  endif()
  list(APPEND flags -isystem ${ORRERY_SDK}/include)
  foreach(folder ${O_INCLUDES})
    list(APPEND flags -I${folder})
  endforeach()
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/${O_TITLE}.dir
    COMMAND ${ORRERY_CLANG} ${flags} ${O_OPTIONS} -MMD -MF ${object}.d -c ${absolute} -o ${object}
    DEPENDS ${absolute} ${O_DEPENDS} DEPFILE ${object}.d
    COMMENT "Compiling ${O_TITLE}/${stem} for the console" VERBATIM)
  set(${out} ${object} PARENT_SCOPE)
endfunction()

function(orrery_title name)
  cmake_parse_arguments(T "SELF;HIDDEN" "DESCRIPTION;ARGUMENTS;FORM" "SOURCES;INCLUDES;OPTIONS;OBJECTS;DEPENDS;IMPORTS" ${ARGN})
  if(NOT T_FORM)
    set(T_FORM current)
  endif()
  set(objects ${T_OBJECTS})
  foreach(source ${T_SOURCES} ${ORRERY_SDK}/start/start.c)
    orrery_title_object(object ${source} TITLE ${name} INCLUDES ${T_INCLUDES} OPTIONS ${T_OPTIONS} DEPENDS ${T_DEPENDS})
    list(APPEND objects ${object})
  endforeach()
  if(T_HIDDEN)
    set(folder ${CMAKE_BINARY_DIR}/test-titles/${name})
  else()
    set(folder ${CMAKE_BINARY_DIR}/titles/${name})
  endif()
  file(MAKE_DIRECTORY ${folder})
  set(linked ${CMAKE_CURRENT_BINARY_DIR}/${name}.elf)
  set(eboot ${folder}/eboot.bin)
  set(lists --imports ${ORRERY_SDK}/imports.txt)
  foreach(list ${T_IMPORTS})
    list(APPEND lists --imports ${list})
  endforeach()
  set(self "")
  if(T_SELF)
    set(self --self)
  endif()
  add_custom_command(OUTPUT ${linked} ${eboot}
    COMMAND ${ORRERY_LLD} -shared -Bsymbolic -e _start --eh-frame-hdr --hash-style=sysv -z norelro
            -z max-page-size=0x4000 ${objects} -o ${linked}
    COMMAND Python3::Interpreter ${ORRERY_SDK}/console_form.py ${linked} ${eboot} ${lists}
            --form ${T_FORM} --title ${name} ${self}
    DEPENDS ${objects} ${ORRERY_SDK}/console_form.py ${ORRERY_SDK}/imports.txt ${T_IMPORTS}
    COMMENT "Linking title ${name}" VERBATIM)
  string(REPLACE "\\" "\\\\" description "${T_DESCRIPTION}")
  string(REPLACE "\"" "\\\"" description "${description}")
  file(CONFIGURE OUTPUT ${folder}/title.json
       CONTENT "{\"name\": \"${name}\", \"description\": \"${description}\", \"arguments\": \"${T_ARGUMENTS}\"}\n")
  add_custom_target(title-${name} ALL DEPENDS ${eboot})
endfunction()
