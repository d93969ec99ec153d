; What setup and uninstaller share. packaging/windows/build.py defines VERSION, OUTPUT, ICON and HEADER, and for the setup what tooltray.nsi says.
Unicode true
!include "MUI2.nsh"
!include "LogicLib.nsh"

!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Tooltray"
!define RUN "Software\Microsoft\Windows\CurrentVersion\Run"
!define SCHEME "Software\Classes\tooltray"
!define SUPERSEDED "superseded.txt" ; as in foundation/installs/old_versions.py

Name "Tooltray"
InstallDir "$LOCALAPPDATA\Programs\Tooltray"
RequestExecutionLevel user
ManifestDPIAware true
BrandingText " "
VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "Tooltray"
VIAddVersionKey "CompanyName" "The developers of Tooltray"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "LegalCopyright" "The developers of Tooltray"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_HEADERIMAGE
!define MUI_HEADERIMAGE_RIGHT
!define MUI_HEADERIMAGE_BITMAP "${HEADER}"
!define MUI_HEADERIMAGE_UNBITMAP "${HEADER}"
