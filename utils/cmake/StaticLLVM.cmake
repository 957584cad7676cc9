# LuminalStaticLLVM: what self-contained tools link in place of the shared libMLIR and libLLVM.
#
# The package's static MLIR and LLD targets name the shared LLVM and MLIR in their interface. Those two names are
# removed, and the LLVM archives that the tools need are linked instead. Unreferenced sections are dropped, so that
# naming every MLIR archive costs only link time.
find_package(ZLIB REQUIRED)
find_package(zstd REQUIRED)

set(archives "")
foreach(target IN LISTS MLIR_EXPORTED_TARGETS LLD_EXPORTED_TARGETS)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "STATIC_LIBRARY")
    continue()
  endif()
  get_target_property(needs ${target} INTERFACE_LINK_LIBRARIES)
  if(needs)
    list(FILTER needs EXCLUDE REGEX "^(LLVM|MLIR)$|^\\$<LINK_ONLY:(LLVM|MLIR)>$")
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${needs}")
  endif()
  # The C interface, the test helpers and the JIT (which requires the shared libraries) are not needed by the tools.
  if(target MATCHES "^MLIR" AND NOT target MATCHES "^MLIRCAPI|ExecutionEngine|JitRunner|MLIRTest|^MLIRPython")
    list(APPEND archives ${target})
  endif()
endforeach()

# The package ships no archive of Polly.
get_target_property(needs LLVMExtensions INTERFACE_LINK_LIBRARIES)
list(REMOVE_ITEM needs Polly)
set_target_properties(LLVMExtensions PROPERTIES INTERFACE_LINK_LIBRARIES "${needs}")

llvm_map_components_to_libnames(llvm_archives
  support core analysis passes ipo linker irreader bitwriter asmparser targetparser objcopy
  native NVPTX lto dtlto supportlsp debuginfodwarf
  option frontendopenmp frontendoffloading frontenddriver windowsdriver)
list(REMOVE_DUPLICATES llvm_archives)

# LLD initializes every back end that the package was built with; those that Luminal does not use get empty
# initializers.
set(starts "")
foreach(target IN LISTS LLVM_TARGETS_TO_BUILD)
  if(NOT target STREQUAL LLVM_NATIVE_ARCH AND NOT target STREQUAL NVPTX)
    foreach(part TargetInfo Target TargetMC AsmParser AsmPrinter Disassembler)
      string(APPEND starts "extern \"C\" void LLVMInitialize${target}${part}() {}\n")
    endforeach()
  endif()
endforeach()
file(CONFIGURE OUTPUT NoTargets.cpp CONTENT "${starts}")

add_library(LuminalAbsent STATIC utils/cmake/NoPolly.cpp ${CMAKE_CURRENT_BINARY_DIR}/NoTargets.cpp)
target_include_directories(LuminalAbsent SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
add_library(LuminalStaticLLVM INTERFACE)
target_link_libraries(LuminalStaticLLVM INTERFACE
  LuminalAbsent -Wl,--start-group ${archives} ${llvm_archives} -Wl,--end-group ZLIB::ZLIB zstd::libzstd_shared Threads::Threads)
target_link_options(LuminalStaticLLVM INTERFACE
  -Wl,--gc-sections -Wl,--as-needed -static-libstdc++ -static-libgcc $<$<CONFIG:Release>:-s>)
