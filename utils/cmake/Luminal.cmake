# luminal_add_library(NAME [MLIR] SOURCES ... [DEPENDS ...] [LINK ...])
#
# One static library per folder of lib/. MLIR marks the libraries that may include LLVM and MLIR headers: they link the
# packaged MLIR and share one precompiled header. A library without it may not (the runtime's rule).
function(luminal_add_library name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  set_property(GLOBAL APPEND PROPERTY LUMINAL_LIBS ${name})
  if(NOT name STREQUAL "LuminalPCH")
    if(ARG_MLIR)
      luminal_install_library(${name} Compiler)
    else()
      luminal_install_library(${name} Runtime)
    endif()
  endif()
  if(ARG_MLIR)
    luminal_link_mlir(${name} PUBLIC)
    if(NOT name STREQUAL "LuminalPCH")
      get_target_property(package_name ${name} EXPORT_NAME)
      set_property(GLOBAL APPEND PROPERTY LUMINAL_MLIR_LIBRARIES ${package_name})
      target_precompile_headers(${name} REUSE_FROM LuminalPCH)
    endif()
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# Installs a library for a component of find_package(Luminal): LuminalHLIR is Luminal::HLIR there.
function(luminal_install_library name component)
  string(REGEX REPLACE "^Luminal" "" export_name ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME "${export_name}")
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(LUMINAL_STATIC_LLVM)
    return() # Self-contained tools are for running, not for building against.
  endif()
  install(TARGETS ${name} EXPORT Luminal${component}Targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# ccache hashes a file beside a precompiled header in place of its content, which contains paths and so differs between
# build folders: here, the preprocessed text. The options that shape it otherwise are in the command that ccache hashes.
function(luminal_digest_precompiled_header target header)
  set(digest ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.pch.sum)
  set(includes $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  set(definitions $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  add_custom_command(OUTPUT ${digest}
    COMMAND ${CMAKE_CXX_COMPILER} -std=gnu++${CMAKE_CXX_STANDARD} -x c++-header -E -P -DNDEBUG
      "-I$<JOIN:${includes},;-I>" "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
      -MD -MF ${digest}.d -MT ${digest} ${header} -o ${digest}
    DEPENDS ${header} DEPFILE ${digest}.d COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Preprocessing the precompiled header of ${target} for ccache")
  add_custom_target(${target}Digest DEPENDS ${digest})
  add_dependencies(${target}Digest ${ARGN})
  add_dependencies(${target} ${target}Digest)
endfunction()

# Optimizes a library that has no precompiled header also where a sanitizer's build optimizes nothing: its code is small,
# and most of what tests under sanitizers run.
function(luminal_optimize_under_sanitizers target)
  if(LUMINAL_SANITIZE)
    target_compile_options(${target} PRIVATE -O2)
  endif()
endfunction()

# The same of sources of a library that has one, which they then do not use.
function(luminal_optimize_sources_under_sanitizers)
  if(LUMINAL_SANITIZE)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# Compiles the sources of a program with the precompiled header of the MLIR-facing libraries.
function(luminal_use_precompiled_header target)
  # An executable is compiled with -fPIE by default; the precompiled header was made with -fPIC.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
  target_precompile_headers(${target} REUSE_FROM LuminalPCH)
endfunction()

# Links the shared MLIR and LLVM of the package, or, with LUMINAL_STATIC_LLVM, the static archives.
function(luminal_link_mlir target)
  if(LUMINAL_STATIC_LLVM)
    target_link_libraries(${target} ${ARGN} LuminalStaticLLVM)
  else()
    target_link_libraries(${target} ${ARGN} MLIR LLVM)
  endif()
endfunction()

# Remembers what a program is made of, for tools/luminal-bundle.
function(luminal_remember_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL PROPERTY LUMINAL_SOURCES_${name} ${ARG_SOURCES})
  set_property(GLOBAL PROPERTY LUMINAL_LINK_${name} ${ARG_LINK})
endfunction()

# luminal_add_tool(NAME [MLIR] SOURCES ... [LINK ...])
function(luminal_add_tool name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  luminal_remember_program(${name} SOURCES ${ARG_SOURCES} LINK ${ARG_LINK})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  if(ARG_MLIR)
    luminal_link_mlir(${name} PRIVATE)
    luminal_use_precompiled_header(${name})
  endif()
  set_property(GLOBAL APPEND PROPERTY LUMINAL_TOOLS ${name})
  if(LUMINAL_STATIC_LLVM)
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  elseif(ARG_MLIR)
    install(TARGETS ${name} EXPORT LuminalCompilerTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  else()
    install(TARGETS ${name} EXPORT LuminalCTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()

# luminal_add_unittest(NAME [MLIR] SOURCES ... [LINK ...]): a GoogleTest binary under test/unit; NAME ends in Tests.
function(luminal_add_unittest name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  luminal_remember_program(${name} SOURCES ${ARG_SOURCES} LINK ${ARG_LINK})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/unit)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/test/unit)
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main ${ARG_LINK})
  if(ARG_MLIR)
    luminal_link_mlir(${name} PRIVATE)
    luminal_use_precompiled_header(${name})
  else()
    # Half of the time that these sources take to compile; what they test is optimized.
    target_compile_options(${name} PRIVATE -O0)
  endif()
  set_property(GLOBAL APPEND PROPERTY LUMINAL_UNITTESTS ${name})
endfunction()

add_custom_target(luminal-doc COMMENT "Reference pages are in ${CMAKE_BINARY_DIR}/docs")

# luminal_add_reference(NAME TD GENERATOR...): the page NAME.md in docs/ of the build, which luminal-doc writes from a .td.
function(luminal_add_reference name td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  tablegen(MLIR ${name}.md ${ARGN})
  set(page ${CMAKE_BINARY_DIR}/docs/${name}.md)
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_BINARY_DIR}/${name}.md ${page}
    DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name}.md)
  add_custom_target(Luminal${name}Reference DEPENDS ${page})
  add_dependencies(luminal-doc Luminal${name}Reference)
endfunction()
