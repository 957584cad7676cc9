# cmake --install: headers, libraries, tools, and the package file behind find_package(Luminal).
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(LUMINAL_STATIC_LLVM)
  return() # Only the tools.
endif()

include(CMakePackageConfigHelpers)
foreach(dir "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
  install(DIRECTORY "${dir}/include/luminal" "${dir}/include/luminal-c"
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} OPTIONAL
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc" PATTERN "*.def" PATTERN "CMakeFiles" EXCLUDE)
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Luminal)
foreach(component C Runtime Compiler)
  install(EXPORT Luminal${component}Targets NAMESPACE Luminal:: DESTINATION ${package_dir})
endforeach()
get_property(mlir_libraries GLOBAL PROPERTY LUMINAL_MLIR_LIBRARIES)
string(REPLACE ";" " " LUMINAL_PACKAGE_MLIR_LIBRARIES "${mlir_libraries}")
configure_package_config_file(utils/cmake/LuminalConfig.cmake.in
  "${PROJECT_BINARY_DIR}/LuminalConfig.cmake" INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/LuminalConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/LuminalConfig.cmake" "${PROJECT_BINARY_DIR}/LuminalConfigVersion.cmake"
  DESTINATION ${package_dir})
